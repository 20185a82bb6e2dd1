"""Sessions from elsewhere, brought into a Hotseat.

    python -m hotseat.importing SOURCE… [--app NAME] [--user ID]

A source is a database of ADK's session services, a session that was saved as JSON, or a folder
with such files. Data flows in one direction: :mod:`~hotseat.importing.sources` finds out what a
source is and gives it the one form of :mod:`~hotseat.importing.stored`;
:mod:`~hotseat.importing.transfer` writes that to the server. Importing again changes nothing that
is there already and brings what is new.
"""
