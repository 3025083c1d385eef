"""The smallest Django site: one view that answers ``ok``, no middleware, behind the site's own bridge."""

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse
from django.urls import path

from portal.streaming.bridge import WsgiBridge

settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], MIDDLEWARE=[], LOGGING_CONFIG=None)
urlpatterns = [path("", lambda request: HttpResponse(b"ok"))]
application = WsgiBridge(get_wsgi_application(), workers=2)
