"""The words of the templates: avatars, versions, money, distances."""

from django import template

register = template.Library()
