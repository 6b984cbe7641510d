"""Spoils a drawn page: page.py FILE NOISE TURN. The noise is a deviation of greys, the turn is in degrees."""

import random
import sys

from PIL import Image

file, noise, turn = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
page = Image.open(file).convert("L").rotate(turn, expand=True, fillcolor=255, resample=Image.BICUBIC)
if noise > 0:
    chance = random.Random(7)
    page.putdata([max(0, min(255, int(grey + chance.gauss(0, noise)))) for grey in page.getdata()])
page.save(file)
