"""Documents read: our extractor and Python's markitdown on the same three files.

The files are made afresh and are the same each time: a PDF of 100 pages of text, a workbook of 50
sheets and a presentation of 200 slides. Both sides work within one process, so neither pays for
starting up, and the best of a few runs counts.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from programs import Programs
from rounds import Figures, Measured, alternate
from server import ROOT

FILES = ("100-pages.pdf", "50-sheets.xlsx", "200-slides.pptx")

# Runs of markitdown per file; it takes seconds for each.
RUNS = 1

# Runs in the Python that has the libraries. The words come from a fixed seed, so files are stable.
MAKE = '''
import datetime, random, sys
from openpyxl import Workbook
from pptx import Presentation
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Table

WORDS = """the a model seat person answers tool call session event log replay trace agent turn
server reads writes keeps durable order stream resume decision golden value""".split()
chance = random.Random(4711)

def sentence(words=14):
    return " ".join(chance.choice(WORDS) for _ in range(words)).capitalize() + "."

def pdf(path):
    styles, story = getSampleStyleSheet(), []
    for page in range(100):
        story.append(Paragraph(f"Chapter {page + 1}: {sentence(4)}", styles["Heading1"]))
        for _ in range(3):
            story.append(Paragraph(sentence(4), styles["Heading2"]))
            story.append(Paragraph(" ".join(sentence() for _ in range(9)), styles["BodyText"]))
        cells = [[sentence(1) for _ in range(4)] for _ in range(5)]
        story.append(Table(cells, style=[("GRID", (0, 0), (-1, -1), 0.5, "black")]))
        story.append(PageBreak())
    SimpleDocTemplate(path, invariant=1).build(story)

def workbook(path):
    book = Workbook()
    book.remove(book.active)
    for number in range(50):
        sheet = book.create_sheet(f"Sheet {number + 1}")
        sheet.append(["Name", "Date", "Amount", "Share", "Note"])
        for row in range(200):
            day = datetime.date(2026, 1, 1) + datetime.timedelta(days=row)
            amount = round(chance.random() * 1000, 2)
            sheet.append([sentence(2), day, amount, chance.random(), sentence(5)])
    book.save(path)

def presentation(path):
    show = Presentation()
    for _ in range(200):
        slide = show.slides.add_slide(show.slide_layouts[1])
        slide.shapes.title.text = sentence(4)
        frame = slide.placeholders[1].text_frame
        frame.text = sentence(8)
        for level in (1, 1, 2, 0):
            paragraph = frame.add_paragraph()
            paragraph.text, paragraph.level = sentence(8), level
        slide.notes_slide.notes_text_frame.text = sentence(20)
    show.save(path)

pdf(sys.argv[1])
workbook(sys.argv[2])
presentation(sys.argv[3])
'''

MARKITDOWN = """
import json, sys, time
from markitdown import MarkItDown
reader = MarkItDown()
runs = int(sys.argv[1])
for path in sys.argv[2:]:
    best, chars = float("inf"), 0
    for _ in range(runs):
        began = time.perf_counter()
        chars = len(reader.convert(path).text_content)
        best = min(best, time.perf_counter() - began)
    print(json.dumps({"file": path, "milliseconds": best * 1000, "chars": chars}))
"""


async def measure(figures: Figures, programs: Programs, rounds: int) -> None:
    with tempfile.TemporaryDirectory(dir=ROOT / "target") as folder:
        files = [str(Path(folder, name)) for name in FILES]
        make(programs, files)

        def ours() -> Measured:
            return timed("hotseat", [programs.examples / "time", *files])

        def theirs() -> Measured:
            words = [programs.peers, "-W", "ignore", "-c", MARKITDOWN, str(RUNS), *files]
            return timed("markitdown", words)

        await alternate(figures, rounds, {"hotseat": ours, "markitdown": theirs}, warm_up=0)


def make(programs: Programs, files: list[str]) -> None:
    subprocess.run([programs.peers, "-c", MAKE, *files], check=True)


def timed(who: str, command: list[Any]) -> Measured:
    """The lines of JSON that a command prints, by file."""
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    lines = map(json.loads, told.splitlines())
    return {f"document.{Path(line['file']).name}.{who}_ms": line["milliseconds"] for line in lines}
