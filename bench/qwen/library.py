"""Desk of a library: its tools, and 60 questions written by hand with what a right answer contains."""

from __future__ import annotations

SHELVES = {
    "middlemarch": ("C4", 2),
    "emma": ("C1", 3),
    "dubliners": ("D2", 1),
    "ulysses": ("D3", 2),
    "dracula": ("B6", 4),
    "frankenstein": ("B7", 2),
    "walden": ("K1", 1),
    "candide": ("F5", 2),
    "faust": ("G2", 5),
    "persuasion": ("C2", 1),
    "kim": ("A9", 2),
    "nana": ("F8", 1),
    "othello": ("E3", 6),
    "hamlet": ("E1", 7),
    "utopia": ("H4", 1),
}
LOANS = {
    "M01": {"due": "Emma", "held": "Kim", "past": "Faust"},
    "M02": {"due": "Dracula", "held": "Nana", "past": "Hamlet"},
    "M03": {"due": "Walden", "held": "Utopia", "past": "Othello"},
    "M04": {"due": "Candide", "held": "Ulysses", "past": "Emma"},
    "M05": {"due": "Dubliners", "held": "Hamlet", "past": "Nana"},
}
HOURS = {
    "mon": "9 to 17",
    "tue": "9 to 19",
    "wed": "10 to 18",
    "thu": "9 to 20",
    "fri": "8 to 16",
    "sat": "11 to 15",
    "sun": "closed",
}


def find_book(title: str) -> str:
    """Find a book."""
    found = SHELVES.get(title.strip().lower())
    return f"shelf {found[0]}, copies: {found[1]}" if found else f"no book {title!r}"


def loans(member: str, state: str) -> str:
    """Loans of a member.

    Args:
        member: The member.
        state: The state.
    """
    known = LOANS.get(member)
    if known is None:
        return f"no member {member!r}; members are written as M01"
    if state not in known:
        return f"no state {state!r}; there are due (overdue), held (on loan now), past (given back)"
    return known[state]


def opening(day: str) -> str:
    """Opening hours."""
    return HOURS.get(day) or f"no day {day!r}; days are written as {', '.join(HOURS)}"


def fee(days: int) -> str:
    """The fee."""
    return f"{days * 30} cents" if 0 < days <= 60 else "the book counts as lost: 2500 cents"


TOOLS = (find_book, loans, opening, fee)
SYSTEM = "You are at the desk of a library. Answer briefly."
QUESTIONS: tuple[tuple[str, str], ...] = (
    ("On which shelf is Middlemarch?", "C4"),
    ("Where do I find Emma?", "C1"),
    ("I look for Dubliners. Which shelf?", "D2"),
    ("Which shelf has Ulysses?", "D3"),
    ("Where is Dracula?", "B6"),
    ("Do you have Frankenstein, and on which shelf?", "B7"),
    ("Shelf of Walden, please.", "K1"),
    ("Where does Candide stand?", "F5"),
    ("How many copies of Faust do you have?", "5"),
    ("How many copies of Othello are there?", "6"),
    ("How many copies of Hamlet does the library own?", "7"),
    ("I want to read Persuasion. Where is it?", "C2"),
    ("Number of copies of Dracula?", "4"),
    ("Utopia, which shelf is that?", "H4"),
    ("Where can I get Kim?", "A9"),
    ("Which book is overdue for M01?", "Emma"),
    ("What should M02 have brought back already?", "Dracula"),
    ("Which book of M03 is late?", "Walden"),
    ("M04 got a reminder. For which book?", "Candide"),
    ("Is anything overdue for M05? Which book?", "Dubliners"),
    ("Which book does M01 have at home now, not overdue?", "Kim"),
    ("What has M02 on loan at the moment?", "Nana"),
    ("Which book is M03 reading now?", "Utopia"),
    ("What did M04 borrow that is still with them in time?", "Ulysses"),
    ("What is currently lent to M05?", "Hamlet"),
    ("Which book did M01 give back?", "Faust"),
    ("What has M02 returned?", "Hamlet"),
    ("Which book did M03 have earlier and bring back?", "Othello"),
    ("Name the book that M04 returned.", "Emma"),
    ("What did member M05 give back?", "Nana"),
    ("When are you open on Monday?", "9 to 17"),
    ("What are the hours on Tuesday?", "9 to 19"),
    ("How long are you open on Wednesday? Give the hours.", "10 to 18"),
    ("Opening hours on Thursday, please.", "9 to 20"),
    ("I can come on Friday. When is it open?", "8 to 16"),
    ("Are you open on Saturday? From when to when?", "11 to 15"),
    ("Is the library open on Sunday or closed?", "closed"),
    ("When does the library open on Wednesday?", "10"),
    ("Until when are you open on Thursday?", "20"),
    ("When do you close on Fridays?", "16"),
    ("From what hour can I come on Saturday?", "11"),
    ("Until what hour can I come on a Tuesday?", "19"),
    ("Which hours has the library at the start of the week, on Monday?", "9 to 17"),
    ("Tell me the hours of the day before Sunday, which is Saturday.", "11 to 15"),
    ("On Friday, when do you open?", "8"),
    ("What does a book cost that is 2 days late, in cents?", "60"),
    ("I am 5 days late. What do I pay, in cents?", "150"),
    ("The fee for 10 days, in cents?", "300"),
    ("How much is it after 7 days, in cents?", "210"),
    ("One day late: how many cents?", "30"),
    ("How many cents for a delay of 20 days?", "600"),
    ("My book is three days late. How many cents is that?", "90"),
    ("What do two weeks of delay cost in cents? That is 14 days.", "420"),
    ("And after 60 days, in cents?", "1800"),
    ("I forgot it for 61 days. How many cents?", "2500"),
    ("A week late, 7 days, in cents?", "210"),
    ("How many cents do I owe for 4 days?", "120"),
    ("I come 12 days late. What is the fee in cents?", "360"),
    ("Late by 100 days: how many cents?", "2500"),
    ("It is 9 days late, how many cents?", "270"),
)
