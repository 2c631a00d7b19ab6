"""URLs: the board, moving a card on it, and a new deal."""

from django.urls import URLPattern, path

from crm.views import board, board_move, deal_new

urlpatterns: list[URLPattern] = [
    path("board/", board.board, name="board"),
    path("board/more/", board.more, name="board_more"),
    path("board/cards/", board.cards, name="board_cards"),
    path("board/move/", board_move.deal_move, name="deal_move"),
    path("board/leave/", board_move.leave, name="deal_move_leave"),
    path("deals/new/", deal_new.deal_new, name="deal_new"),
    path("deals/new/companies/", deal_new.company_names, name="deal_new_companies"),
]
