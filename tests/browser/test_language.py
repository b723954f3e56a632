"""The laboratory in another language: a language pack as JupyterLab finds it, and its texts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from helpers.explorer import Explorer, command, open_notebook, run_all
from helpers.lab import EXTENSION, run_lab
from helpers.notebooks import MATMUL
from playwright.sync_api import Browser, expect

pytestmark = [pytest.mark.browser, pytest.mark.slow]

TEXTS = {
    "Undo": "Rückgängig",
    "Measure": "Messen",
    "not measured yet": "noch nicht gemessen",
    "Selected line": "Gewählte Zeile",
    "Why not %1": "Warum nicht %1",
    "%1: %2 loops now.": "%1: jetzt %2 Schleifen.",
    "Show Schedule Panel": "Schedule-Leiste zeigen",
    "Unit of times": "Einheit der Zeiten",
}


def _write_pack(folder: Path) -> None:
    """A package that JupyterLab takes for German, with some texts of tvmlab alone."""
    package = folder / "jupyterlab_language_pack_de_DE"
    texts = package / "locale" / "de_DE" / "LC_MESSAGES"
    texts.mkdir(parents=True)
    (package / "__init__.py").touch()
    about = {"domain": "tvmlab", "language": "de-DE", "version": "0"}
    forms = {"plural_forms": "nplurals=2; plural=(n != 1);"}
    found = {"": {**about, **forms}, **{text: [said] for text, said in TEXTS.items()}}
    (texts / "tvmlab.json").write_text(json.dumps(found), encoding="utf-8")
    info = folder / "jupyterlab_language_pack_de_DE-0.dist-info"
    info.mkdir()
    named = "Metadata-Version: 2.1\nName: jupyterlab-language-pack-de-DE\nVersion: 0\n"
    (info / "METADATA").write_text(named, encoding="utf-8")
    entry = "[jupyterlab.languagepack]\nde_DE = jupyterlab_language_pack_de_DE\n"
    (info / "entry_points.txt").write_text(entry, encoding="utf-8")


def _choose_german(folder: Path) -> None:
    chosen = folder / "settings" / "@jupyterlab" / "translation-extension"
    chosen.mkdir(parents=True)
    settings = json.dumps({"locale": "de_DE"})
    (chosen / "plugin.jupyterlab-settings").write_text(settings, encoding="utf-8")


def test_a_language_pack_speaks_in_cells_panels_and_commands(
    browser: Browser, built: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    template = (EXTENSION.parent / "static" / "tvmlab.pot").read_text(encoding="utf-8")
    assert all(f'msgid "{text}"\n' in template for text in TEXTS)
    _write_pack(tmp_path / "pack")
    _choose_german(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "pack"))
    with run_lab(tmp_path) as lab:
        page = browser.new_context(viewport={"width": 1440, "height": 1080}).new_page()
        open_notebook(page, lab, lab.write_notebook("de.ipynb", MATMUL, "tl.explore(sch)"))
        run_all(page)
        command(page, "tvmlab:open-panel")
        for explorer in (Explorer.in_cell(page), Explorer.in_panel(page)):
            expect(explorer.root.get_by_role("button", name="Rückgängig")).to_be_visible()
            expect(explorer.root.get_by_role("region", name="Gewählte Zeile")).to_be_visible()
            expect(explorer.root.locator(".tvmlab-stat")).to_contain_text("noch nicht gemessen")
        cell = Explorer.in_cell(page)
        cell.select("k")
        cell.press("p")
        expect(cell.root.get_by_role("group", name="Warum nicht parallel")).to_be_visible()
        cell.select("i")
        cell.press("p")
        heard = cell.root.locator(".tvmlab-hidden[aria-live]")
        expect(heard).to_contain_text("jetzt 3 Schleifen")
        label = page.evaluate("() => window.jupyterapp.commands.label('tvmlab:open-panel')")
        assert label == "Schedule-Leiste zeigen"
        # What has no translation stays English.
        expect(cell.root.get_by_role("button", name="Redo")).to_be_visible()
        page.context.close()
