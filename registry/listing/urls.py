from django.urls import path

from registry.listing.api import AgentSkill, AgentSkills, Listings

urlpatterns = [
    path("listing", Listings.as_view(), name="api-listing"),
    path("agent/skills", AgentSkills.as_view(), name="api-agent-skills"),
    path("agent/skills/load", AgentSkill.as_view(), name="api-agent-skill"),
]
