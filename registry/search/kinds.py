"""Filters of the catalog by kind (script, prompt, tools, reference) and by the description's language."""

from django.db.models import Exists, OuterRef, Q

from registry.index.abilities import Ability
from registry.index.postings import CJK_DOC_COUNT_TERM
from registry.models import Posting

_IS_STATIC, _IS_SERVICE = Q(type="static"), Q(type="service")
# The values that contain the flag, because bit operators differ between databases.
_CAN_RUN = Q(abilities__in=[flags for flags in range(2 * max(Ability)) if Ability.RUN & flags])
KIND_FILTERS = {
    "script": _CAN_RUN & ~_IS_STATIC & ~_IS_SERVICE,
    "prompt": ~_CAN_RUN & ~_IS_STATIC,
    "tools": _CAN_RUN & _IS_SERVICE,
    "reference": _IS_STATIC,
}
_IS_CHINESE = Exists(Posting.objects.filter(skill=OuterRef("pk"), term__text=CJK_DOC_COUNT_TERM))
LANGUAGE_FILTERS = {"zh": Q(_IS_CHINESE), "en": ~Q(_IS_CHINESE)}  # "en" stands for all other languages
