"""Draws a page of text as a picture: page.py FILE SIZE NOISE TURN TEXT. The size is in pixels, the turn in degrees."""

import random
import sys

from PIL import Image, ImageDraw, ImageFont

file, size, noise, turn, text = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), sys.argv[5]
font = ImageFont.truetype("/usr/share/fonts/truetype/dejavu/DejaVuSerif.ttf", size)
lines = text.split("\n")
width = max(int(font.getlength(line)) for line in lines) + 4 * size
page = Image.new("L", (width, int(1.5 * size * len(lines)) + 4 * size), 255)
draw = ImageDraw.Draw(page)
for number, line in enumerate(lines):
    draw.text((2 * size, 2 * size + int(1.5 * size * number)), line, font=font, fill=0)
page = page.rotate(turn, expand=True, fillcolor=255, resample=Image.BICUBIC)
if noise > 0:
    chance = random.Random(7)
    page.putdata([max(0, min(255, int(grey + chance.gauss(0, noise)))) for grey in page.getdata()])
page.save(file)
