"""A session as one HTML file that needs no network and no kernel, and can be opened again."""

from __future__ import annotations

from html import escape

from .bundles import bundle_text
from .recording import in_script, recording
from .session import Session
from .session_file import session_text


def page_text(session: Session) -> str:
    """The page: the recording, and the views that show it."""
    name = escape(session.name)
    data = {**recording(session), "file": session_text(session)}
    script = bundle_text("page.js").replace("</script", "<\\/script")
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'">
<title>{name} · tvmlab</title>
<body style="margin: 0">
<main id="tvmlab-page" aria-label="Session {name}"></main>
<script type="application/json" id="tvmlab-recording">{in_script(data)}</script>
<script>{script}</script>
</html>
"""
