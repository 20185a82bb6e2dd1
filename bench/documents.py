"""Times reading documents: our extractor and Python's markitdown on the same three files.

    python documents.py --python VENV/bin/python --ours target/release/examples/time

The files are made afresh and are the same each time: a PDF of 100 pages of text, a workbook of 50
sheets and a presentation of 200 slides. `--python` names a Python that has `markitdown[all]`,
`openpyxl`, `python-pptx` and `reportlab`; `--ours` is the example `time` of hotseat-extract. Both
give the best of several runs within one process, so neither pays for starting up. The result is
JSON on standard output.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
import tempfile
from typing import Any

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


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--python", required=True, help="a Python that has markitdown[all]")
    arguments.add_argument("--ours", required=True, help="the example `time` of hotseat-extract")
    arguments.add_argument("--runs", type=int, default=2, help="runs of markitdown per file")
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = [
            str(pathlib.Path(folder, name))
            for name in ("100-pages.pdf", "50-sheets.xlsx", "200-slides.pptx")
        ]
        subprocess.run([chosen.python, "-c", MAKE, *files], check=True)
        theirs = timed([chosen.python, "-W", "ignore", "-c", MARKITDOWN, str(chosen.runs), *files])
        ours = timed([chosen.ours, *files])
        print(
            json.dumps(
                {pathlib.Path(file).name: compared(ours[file], theirs[file]) for file in files},
                indent=2,
            )
        )


def timed(command: list[str]) -> dict[str, Any]:
    """The lines of JSON that a command prints, by file."""
    lines = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True
    ).stdout.splitlines()
    return {result["file"]: result for result in map(json.loads, lines)}


def compared(ours: dict[str, Any], theirs: dict[str, Any]) -> dict[str, Any]:
    return {
        "hotseat_ms": round(ours["milliseconds"], 1),
        "markitdown_ms": round(theirs["milliseconds"], 1),
        "times_faster": round(theirs["milliseconds"] / ours["milliseconds"], 1),
        "hotseat_chars": ours["chars"],
        "markitdown_chars": theirs["chars"],
    }


if __name__ == "__main__":
    main()
