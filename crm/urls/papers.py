"""URLs: contracts and invoices."""

from django.urls import URLPattern, path

from crm.views import contracts, invoices, papers

urlpatterns: list[URLPattern] = [
    path("papers/", papers.papers_of, name="papers_of"),
    path("contracts/", contracts.contracts, name="contracts"),
    path("contracts/new/", contracts.contract_new, name="contract_new"),
    path("contracts/<int:pk>/", contracts.contract, name="contract"),
    path("contracts/<int:pk>/parts/", contracts.contract_parts, name="contract_parts"),
    path("contracts/<int:pk>/edit/", contracts.contract_edit, name="contract_edit"),
    path("contracts/<int:pk>/documents/<int:number>/", contracts.contract_document, name="contract_document"),
    path("contracts/<int:pk>/do/<slug:verb>/", contracts.contract_act, name="contract_act"),
    path("invoices/", invoices.invoices, name="invoices"),
    path("invoices/new/", invoices.invoice_new, name="invoice_new"),
    path("invoices/<int:pk>/", invoices.invoice, name="invoice"),
    path("invoices/<int:pk>/parts/", invoices.invoice_parts, name="invoice_parts"),
    path("invoices/<int:pk>/edit/", invoices.invoice_edit, name="invoice_edit"),
    path("invoices/<int:pk>/do/<slug:verb>/", invoices.invoice_act, name="invoice_act"),
]
