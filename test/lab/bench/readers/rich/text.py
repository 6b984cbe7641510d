"""Makes a document with a link, a description, hidden text, a header and a footer: text.py FILE PICTURE."""

import sys

from docx import Document
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn

document = Document()
paragraph = document.add_paragraph("Read ")
link = OxmlElement("w:hyperlink")
link.set(qn("r:id"), document.part.relate_to("https://example.org/pears", RELATIONSHIP_TYPE.HYPERLINK, is_external=True))
run = OxmlElement("w:r")
text = OxmlElement("w:t")
text.text = "about pears"
run.append(text)
link.append(run)
paragraph._p.append(link)
document.add_paragraph("Shown ").add_run("unseen words").font.hidden = True
picture = document.add_picture(sys.argv[2])
picture._inline.docPr.set("descr", "A pear tree in spring")
section = document.sections[0]
section.header.paragraphs[0].text = "Orchard report"
section.footer.paragraphs[0].text = "Not for print"
document.save(sys.argv[1])
