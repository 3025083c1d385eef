"""A site filled for screenshots."""

PASSWORD = "demo-password"
# Parts of addresses that are random on other sites.
SERVICE_ACCOUNT = "01kajq3s5d8m6v9x2c4b7n1p20"
TOKEN = "01kajq3s5d8m6v9x2c4b7n1p21"
SERVICE_TOKEN = "01kajq3s5d8m6v9x2c4b7n1p22"
INVITATION = "demo-invitation"
