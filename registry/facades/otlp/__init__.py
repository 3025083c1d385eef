"""An inbox for OpenTelemetry logs, in which agents report the skills that they activated."""
