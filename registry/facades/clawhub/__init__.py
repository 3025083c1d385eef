"""The ClawHub v1 protocol, which the clients ``clawhub`` and JFrog's skills repositories speak."""
