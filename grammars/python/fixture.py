#!/usr/bin/env python3
"""Lends books and counts the days."""

import datetime
from library.shelf import Shelf, empty as empty_shelf

MAX_DAYS = 28
default_shelf: Shelf = empty_shelf()

type Days = int


# Raised when nobody brought it back.
class Overdue(Exception):
    pass


class Loan(Base, metaclass=Registry):
    """One book in somebody's hands.

    Ends when it is returned.
    """

    limit = MAX_DAYS

    class Meta:
        ordering = ["day"]

    @property
    @cached(ttl=60)
    def days(self) -> Days:
        """Days since it left."""
        return self.clock.today() - self.start

    async def remind(self, *, politely: bool = True):
        def wording():
            return "please" if politely else "now"

        await send(self.reader, wording())


@app.route("/loans")
def loans(shelf: Shelf, day: datetime.date = None) -> list[Loan]:
    total = sum(loan.days for loan in shelf)
    return sorted(shelf.loans(), key=lambda loan: loan.days)


if __name__ == "__main__":
    main()
