"""URLs: tickets, stock, access."""

from django.urls import URLPattern, path

from crm.views import access, desk_beside, stock, tickets

urlpatterns: list[URLPattern] = [
    path("deals/<int:pk>/desk/", desk_beside.of_deal, name="deal_desk"),
    path("companies/<int:pk>/desk/", desk_beside.of_company, name="company_desk"),
    path("contacts/<int:pk>/desk/", desk_beside.of_contact, name="contact_desk"),
    path("tickets/", tickets.tickets, name="tickets"),
    path("tickets/new/", tickets.ticket_new, name="ticket_new"),
    path("tickets/next/", tickets.ticket_next, name="ticket_next"),
    path("tickets/<int:pk>/", tickets.ticket, name="ticket"),
    path("tickets/<int:pk>/parts/", tickets.ticket_parts, name="ticket_parts"),
    path("tickets/<int:pk>/edit/", tickets.ticket_edit, name="ticket_edit"),
    path("tickets/<int:pk>/do/<slug:verb>/", tickets.ticket_act, name="ticket_act"),
    path("stock/", stock.stock, name="stock"),
    path("stock/new/", stock.stock_new, name="stock_new"),
    path("stock/<int:pk>/", stock.stock_item, name="stock_item"),
    path("stock/<int:pk>/parts/", stock.stock_parts, name="stock_parts"),
    path("stock/<int:pk>/edit/", stock.stock_edit, name="stock_edit"),
    path("stock/<int:pk>/do/<slug:verb>/", stock.stock_act, name="stock_act"),
    path("access/", access.access, name="access"),
    path("access/new/", access.access_new, name="access_new"),
    path("access/<int:pk>/", access.access_request, name="access_request"),
    path("access/<int:pk>/parts/", access.access_parts, name="access_parts"),
    path("access/<int:pk>/edit/", access.access_edit, name="access_edit"),
    path("access/<int:pk>/do/<slug:verb>/", access.access_act, name="access_act"),
]
