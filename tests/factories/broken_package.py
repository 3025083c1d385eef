"""A package with one fault of each kind, and the problems that a check reports for it."""

from __future__ import annotations

SKILL_MD = """---
name: broken
description: [never closed
version: soon
type: direct
type: service
tags: &anchor [a]
ttl: a week
protocol: telepathy
capabilities: one, two
input_schema:
  type: array
output_schema: {$ref: "https://example.com/x.json"}
security:
  network: everywhere
  timeout_ms: -1
resources:
  entry: ../../evil.ts
  helpers: [./scripts/absent.ts]
---

# Broken
"""
FILES = {
    "SKILL.md": SKILL_MD,
    "tool.py": "print(1)\n",
    "phases/01-first.md": "## Scripts\n\n- nowhere\n",
}
FAULTS = [  # code, file, line
    ("CODE_OUTSIDE_SCRIPTS", "tool.py", None),
    ("ENTRY_UNSAFE", "SKILL.md", 18),
    ("FIELD_LIST_AS_TEXT", "SKILL.md", 10),
    ("FIELD_MISSING", "SKILL.md", 1),
    ("FIELD_TYPE", "SKILL.md", 8),
    ("FIELD_VALUE", "SKILL.md", 9),
    ("FIELD_VALUE", "SKILL.md", 15),
    ("FIELD_VALUE", "SKILL.md", 16),
    ("FRONT_MATTER_DUPLICATE", "SKILL.md", 6),
    ("FRONT_MATTER_INVALID", "SKILL.md", 3),
    ("FRONT_MATTER_REFERENCE", "SKILL.md", 7),
    ("RESOURCE_MISSING", "SKILL.md", 19),
    ("SCHEMA_NOT_OBJECT", "SKILL.md", 12),
    ("SCHEMA_REFERENCE", "SKILL.md", 13),
    ("SCRIPTS_MISSING", "scripts/", None),
    ("SCRIPT_UNDECLARED", "phases/01-first.md", 3),
    ("VERSION_INVALID", "SKILL.md", 4),
]
