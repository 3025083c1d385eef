"""The stage of sign-in that requires the second factor."""

from __future__ import annotations

from typing import Any

from allauth.mfa.stages import AuthenticateStage

_PASSWORD = "password_hash"


class SecondFactorStage(AuthenticateStage):
    urlname = "mfa_authenticate"

    def handle(self) -> tuple[Any, bool]:
        response, is_continued = super().handle()
        if response and self.login.user:
            self.request.session.cycle_key()  # others may know the session key from before sign-in
            self.state[_PASSWORD] = self.login.user.get_session_auth_hash()
        return response, is_continued

    def is_valid(self) -> bool:
        """Whether the user is still active and has the same password as in the first step."""
        user = self.login.user
        return bool(user and user.is_active and self.state[_PASSWORD] == user.get_session_auth_hash())
