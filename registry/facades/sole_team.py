from registry.api.errors import FIELD_INVALID
from registry.identity.actors import Actor
from registry.models import Team


def sole_team(actor: Actor) -> Team:
    """The actor's only team, for requests that name none. Raises FIELD_INVALID for no team or several."""
    own = list(Team.objects.filter(pk__in=actor.team_ids)[:2])
    if len(own) != 1:
        raise FIELD_INVALID.refusal(field="team", reason="Use a token that is limited to one team.")
    return own[0]
