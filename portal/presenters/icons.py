"""Line icons, 16 × 16, drawn for this site; the stylesheet sets stroke and color."""

# ruff: noqa: E501
ICONS = {
    "ok": '<circle cx="8" cy="8" r="6.2"/><path d="m5.4 8.2 1.8 1.8 3.4-3.8"/>',
    "bad": '<circle cx="8" cy="8" r="6.2"/><path d="m5.9 5.9 4.2 4.2m0-4.2-4.2 4.2"/>',
    "warn": '<path d="M8 2.2 14.2 13H1.8z"/><path d="M8 6.4v3m0 1.9v.1"/>',
    "info": '<circle cx="8" cy="8" r="6.2"/><path d="M8 7.4v3.4M8 5.1v.1"/>',
    "running": '<path d="M14.2 8A6.2 6.2 0 1 1 8 1.8"/>',
    "queued": '<circle cx="8" cy="8" r="6.2"/><path d="M8 4.6V8l2.3 1.6"/>',
    "stopped": '<circle cx="8" cy="8" r="6.2"/><path d="M4 12 12 4"/>',
    "dot": '<circle cx="8" cy="8" r="2.4"/>',
    "lock": '<rect x="3.2" y="7" width="9.6" height="6.6" rx="1.4"/><path d="M5.4 7V5a2.6 2.6 0 0 1 5.2 0v2"/>',
    "site": '<path d="M2.4 13.6V6L8 2.4 13.6 6v7.6z"/><path d="M6.4 13.6V9.8h3.2v3.8"/>',
    "globe": '<circle cx="8" cy="8" r="6.2"/><path d="M1.8 8h12.4M8 1.8c4 4 4 8.4 0 12.4-4-4-4-8.4 0-12.4"/>',
    "search": '<circle cx="7" cy="7" r="4.4"/><path d="m10.4 10.4 3.6 3.6"/>',
    "file": '<path d="M3.6 1.8h5.2l3.6 3.6v8.8H3.6z"/><path d="M8.8 1.8v3.6h3.6"/>',
    "folder": '<path d="M1.8 12.8V3.4h4.4L7.6 5h6.6v7.8z"/>',
    "copy": '<rect x="5.4" y="5.4" width="8.4" height="8.4" rx="1.4"/>'
    '<path d="M10.6 5.4V3.6a1.4 1.4 0 0 0-1.4-1.4H3.6a1.4 1.4 0 0 0-1.4 1.4v5.6a1.4 1.4 0 0 0 1.4 1.4h1.8"/>',
    "download": '<path d="M8 2v8m-3.2-3L8 10.2 11.2 7M2.4 13.6h11.2"/>',
    "play": '<path d="M4.6 2.8 13 8l-8.4 5.2z"/>',
    "user": '<circle cx="8" cy="5.4" r="2.8"/><path d="M2.6 14c.6-3 2.6-4.4 5.4-4.4s4.8 1.4 5.4 4.4"/>',
    "team": '<circle cx="6" cy="5.6" r="2.4"/><path d="M1.6 13.4c.4-2.6 2-3.9 4.4-3.9s4 1.3 4.4 3.9"/>'
    '<path d="M10.6 3.4a2.4 2.4 0 0 1 0 4.4m1.3 2c1.5.5 2.3 1.7 2.5 3.6"/>',
    "key": '<circle cx="5.2" cy="10.8" r="3"/><path d="m7.4 8.6 6.2-6.2m-2.4 2.4 2 2"/>',
    "theme": '<circle cx="8" cy="8" r="6.2"/><path d="M8 1.8v12.4a6.2 6.2 0 0 0 0-12.4" fill="currentColor"/>',
    "language": '<path d="M1.8 3.8h7M5.3 2v1.8m2 0C6.8 6.6 5 8.6 2.2 9.8m1.5-3.9c.8 1.6 2 2.8 3.6 3.6"/>'
    '<path d="m7.6 14 3.1-7.4L13.8 14m-5.3-2.2H13"/>',
    "upload": '<path d="M8 10.4V2.2M4.8 5.4 8 2.2l3.2 3.2M2.4 13.6h11.2"/>',
    "plus": '<path d="M8 3v10M3 8h10"/>',
    "again": '<path d="M13.4 8A5.4 5.4 0 1 1 11.8 4.2L13.6 6m0-3.6V6H10"/>',
    "pause": '<path d="M5.4 3v10m5.2-10v10"/>',
    "right": '<path d="m6 3.4 4.6 4.6L6 12.6"/>',
    "left": '<path d="M10 3.4 5.4 8l4.6 4.6"/>',
    "link": '<path d="M6.6 9.4a2.8 2.8 0 0 0 4 0l2.4-2.4a2.8 2.8 0 0 0-4-4L8 4m1.4 2.6a2.8 2.8 0 0 0-4 0L3 9a2.8 2.8 0 0 0 4 4l1-1"/>',
    "settings": '<path d="M2 4.6h7m3 0h2M2 11.4h2m3 0h7"/><circle cx="10.4" cy="4.6" r="1.7"/><circle cx="5.6" cy="11.4" r="1.7"/>',
    "out": '<path d="M6.4 2.4H2.8v11.2h3.6M10.4 5l3 3-3 3M13.4 8H6.2"/>',
}
