"""The titles of the documents in the reader's language. The documents themselves are in English."""

from __future__ import annotations

from django.utils.translation import pgettext_lazy

from registry.documentation.library import Document

TITLES = {
    "start": pgettext_lazy("document", "Start"),
    "glossary": pgettext_lazy("document", "Glossary"),
    "explanation/architecture": pgettext_lazy("document", "Architecture"),
    "explanation/decisions": pgettext_lazy("document", "Design decisions"),
    "explanation/security": pgettext_lazy("document", "Security"),
    "howto/add-a-worker-host": pgettext_lazy("document", "Add a worker host"),
    "howto/add-people-and-teams": pgettext_lazy("document", "Add people and teams"),
    "howto/allow-dependencies": pgettext_lazy("document", "Allow dependencies"),
    "howto/approve-runs-and-set-rules": pgettext_lazy("document", "Approve runs and set rules"),
    "howto/back-up-and-restore": pgettext_lazy("document", "Back up and restore"),
    "howto/call-the-api-from-an-agent": pgettext_lazy("document", "Call the API from an agent"),
    "howto/cancel-and-repeat-runs": pgettext_lazy("document", "Cancel and repeat many runs"),
    "howto/connect-a-model": pgettext_lazy("document", "Connect a model"),
    "howto/connect-cursor": pgettext_lazy("document", "Use skills in Cursor"),
    "howto/connect-mcp-hosts": pgettext_lazy("document", "Connect MCP hosts"),
    "howto/connect-vs-code": pgettext_lazy("document", "Use skills in VS Code"),
    "howto/deploy-containers": pgettext_lazy("document", "Deploy with containers"),
    "howto/deploy-with-systemd": pgettext_lazy("document", "Deploy with systemd"),
    "howto/get-notified": pgettext_lazy("document", "Get notified"),
    "howto/harden-the-sandbox": pgettext_lazy("document", "Harden the sandbox"),
    "howto/import-skills": pgettext_lazy("document", "Import skills"),
    "howto/install-collections": pgettext_lazy("document", "Install several skills as a collection"),
    "howto/install-with-apm": pgettext_lazy("document", "Install skills with APM"),
    "howto/install-with-claude-code": pgettext_lazy("document", "Use skills in Claude Code"),
    "howto/install-with-clawhub": pgettext_lazy("document", "Install skills with clawhub"),
    "howto/install-with-codex": pgettext_lazy("document", "Use skills in Codex"),
    "howto/install-with-gemini-cli": pgettext_lazy("document", "Use skills in Gemini CLI"),
    "howto/install-with-git": pgettext_lazy("document", "Install skills with git, Claude Code and Codex"),
    "howto/install-with-links": pgettext_lazy("document", "Install private skills without a token"),
    "howto/install-with-npm": pgettext_lazy("document", "Install skills with npm"),
    "howto/install-with-npx-skills": pgettext_lazy("document", "Install skills with npx skills"),
    "howto/manage-versions": pgettext_lazy("document", "Manage versions"),
    "howto/migrate-old-packages": pgettext_lazy("document", "Migrate old packages"),
    "howto/monitor-a-site": pgettext_lazy("document", "Monitor a site"),
    "howto/move-to-postgresql-and-s3": pgettext_lazy("document", "Move to PostgreSQL and S3"),
    "howto/publish-a-skill": pgettext_lazy("document", "Publish a skill"),
    "howto/receive-webhooks": pgettext_lazy("document", "Receive events by webhook"),
    "howto/release": pgettext_lazy("document", "Release Skillquay"),
    "howto/remove-old-runs": pgettext_lazy("document", "Remove old runs"),
    "howto/report-activations": pgettext_lazy("document", "Count skill uses in Claude Code"),
    "howto/review-held-versions": pgettext_lazy("document", "Review held versions and reports"),
    "howto/review-memory": pgettext_lazy("document", "Review memory"),
    "howto/rotate-keys": pgettext_lazy("document", "Rotate keys"),
    "howto/run-a-production-site": pgettext_lazy("document", "Run a production site"),
    "howto/schedule-runs": pgettext_lazy("document", "Schedule runs"),
    "howto/set-canonical-skills": pgettext_lazy("document", "Set canonical skills"),
    "howto/set-team-limits": pgettext_lazy("document", "Set team limits"),
    "howto/share-runs": pgettext_lazy("document", "Share runs"),
    "howto/show-skills-to-agents": pgettext_lazy("document", "Show skills to agents"),
    "howto/sign-in-with-your-identity-provider": pgettext_lazy(
        "document", "Sign in with your identity provider"
    ),
    "howto/size-a-site": pgettext_lazy("document", "Plan the hardware for a site"),
    "howto/upgrade": pgettext_lazy("document", "Upgrade"),
    "howto/use-another-sandbox-backend": pgettext_lazy("document", "Use another sandbox backend"),
    "howto/use-secrets": pgettext_lazy("document", "Use secrets"),
    "howto/use-the-anthropic-and-openai-sdks": pgettext_lazy(
        "document", "Use the SDKs of Anthropic and OpenAI"
    ),
    "howto/use-the-api-from-python": pgettext_lazy("document", "Use the API from Python"),
    "howto/use-the-command-line": pgettext_lazy("document", "Use the command-line client"),
    "howto/write-a-skill": pgettext_lazy("document", "Write a skill"),
    "reference/api": pgettext_lazy("document", "API reference"),
    "reference/audit": pgettext_lazy("document", "Audit log"),
    "reference/clients": pgettext_lazy("document", "Clients"),
    "reference/commands": pgettext_lazy("document", "Commands"),
    "reference/events": pgettext_lazy("document", "Events, webhooks and feedback"),
    "reference/imports": pgettext_lazy("document", "Imports"),
    "reference/listing": pgettext_lazy("document", "Agent listing"),
    "reference/matching": pgettext_lazy("document", "Matching"),
    "reference/memory": pgettext_lazy("document", "Memory"),
    "reference/packages": pgettext_lazy("document", "Skill packages"),
    "reference/permissions": pgettext_lazy("document", "Permissions"),
    "reference/prompts": pgettext_lazy("document", "Prompt skills"),
    "reference/scanning": pgettext_lazy("document", "Scanning"),
    "reference/search": pgettext_lazy("document", "Search"),
    "reference/settings": pgettext_lazy("document", "Settings"),
    "reference/statistics": pgettext_lazy("document", "How runs are counted"),
}


def title_of(document: Document) -> str:
    """The translated title; the document's own if ``TITLES`` does not have it."""
    return str(TITLES.get(document.name, document.title))
