"""URLs: companies, contacts, and the saved views of lists."""

from django.urls import URLPattern, path

from crm.views import bulk, companies, contacts, imports, saved_views

urlpatterns: list[URLPattern] = [
    path("companies/", companies.companies, name="companies"),
    path("companies/new/", companies.company_new, name="company_new"),
    path("companies/bulk/", bulk.companies, name="companies_bulk"),
    path("companies/<int:pk>/", companies.company, name="company"),
    path("companies/<int:pk>/parts/", companies.company_parts, name="company_parts"),
    path("companies/<int:pk>/edit/", companies.company_edit, name="company_edit"),
    path("contacts/", contacts.contacts, name="contacts"),
    path("contacts/new/", contacts.contact_new, name="contact_new"),
    path("contacts/bulk/", bulk.contacts, name="contacts_bulk"),
    path("contacts/<int:pk>/", contacts.contact, name="contact"),
    path("contacts/<int:pk>/parts/", contacts.contact_parts, name="contact_parts"),
    path("contacts/<int:pk>/edit/", contacts.contact_edit, name="contact_edit"),
    path("contacts/<int:pk>/addresses/", contacts.address_add, name="contact_address_add"),
    path("contacts/<int:pk>/addresses/remove/", contacts.address_remove, name="contact_address_remove"),
    path("contacts/<int:pk>/consent/", contacts.consent, name="contact_consent"),
    path("imports/", imports.imports, name="imports"),
    path("views/save/", saved_views.save, name="saved_view_save"),
    path("views/<int:pk>/delete/", saved_views.delete, name="saved_view_delete"),
]
