"""Makes a workbook with links, comments, a chart and hidden parts: sheets.py FILE."""

import sys

from openpyxl import Workbook
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment

book = Workbook()
sheet = book.active
sheet.title = "Sales"
for row in [["Month", "Pears"], ["May", 4], ["July", 9]]:
    sheet.append(row)
sheet["A5"] = "about pears"
sheet["A5"].hyperlink = "https://example.org/pears"
sheet["B2"].comment = Comment("Check the number", "Ada")
sheet["A7"] = "unseen row"
sheet.row_dimensions[7].hidden = True
sheet["D1"] = "unseen column"
sheet.column_dimensions["D"].hidden = True
chart = BarChart()
chart.title = "Pears a month"
chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=3), titles_from_data=True)
chart.set_categories(Reference(sheet, min_col=1, min_row=2, max_row=3))
sheet.add_chart(chart, "F2")
sheet.oddHeader.center.text = "Orchard report"
sheet.oddFooter.center.text = "Not for print"
secret = book.create_sheet("Secret")
secret["A1"] = "unseen words"
secret.sheet_state = "hidden"
book.save(sys.argv[1])
