"""Python reads this module when it starts, in worker processes too, if its folder is in PYTHONPATH.

Whatever asks for a name in the network, or for a connection, is written to the file that COVEY_CONTACTS names, and is
refused. So an attempt is seen even if the program that makes it goes on after the error.
"""

import os
import socket
import sys

ASKING = {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo"}
TALKING = {"socket.bind", "socket.connect", "socket.sendmsg", "socket.sendto"}
"""What Python tells about before it does it; the first argument of the second kind is the socket."""


def refuse(event, arguments):
    """Write down and refuse what would leave this machine, or listen on it; Unix sockets are files."""
    if event in ASKING:
        what = arguments[:2]
    elif event in TALKING and arguments[0].family in (socket.AF_INET, socket.AF_INET6):
        what = arguments[1:2]
    else:
        return
    with open(os.environ["COVEY_CONTACTS"], "a") as file:
        file.write(f"{event} {what}\n")
    raise OSError(f"{event} is refused here: {what}")


sys.addaudithook(refuse)
