"""SavedView: a list as one person likes to see it. Not a subject: it belongs to that person alone."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class SavedView(models.Model):
    user = models.ForeignKey("crm.User", models.CASCADE, related_name="saved_views")
    page = models.CharField(max_length=40)
    """The URL name of the list."""
    name = models.CharField(_("name"), max_length=80)
    query = models.CharField(max_length=1000)
    """The query string, as in the address bar."""

    class Meta:
        verbose_name = _("saved view")
        verbose_name_plural = _("saved views")
        ordering = ["page", "name"]
        constraints = [models.UniqueConstraint(fields=["user", "page", "name"], name="view_name_once")]

    def __str__(self) -> str:
        return self.name
