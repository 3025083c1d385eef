from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

TARGET_NOT_EMPTY = declare("TARGET_NOT_EMPTY", lambda: ..., http=409)(
    _("Can't copy into this database: it already contains users or skills."),
    _("Create an empty database, and use it as the target."),
)
OTHER_COPY_UNFINISHED = declare("OTHER_COPY_UNFINISHED", lambda *, source: ..., http=409)(
    _("Can't copy into the target: it contains an unfinished copy of another source (%(source)s)."),
    _("Run the same command for that source again, or use an empty database as the target."),
)
BACKUP_UNREADABLE = declare("BACKUP_UNREADABLE", lambda *, path: ..., http=422)(
    _("%(path)s is not a complete backup."),
    _("Choose a file that `manage.py backup` has written completely."),
)
BACKUP_OF_OTHER_RELEASE = declare("BACKUP_OF_OTHER_RELEASE", lambda *, release: ..., http=409)(
    _(
        "Can't restore: the backup comes from Skillquay %(release)s, whose database tables differ "
        "from those of this installation."
    ),
    _("Install the Skillquay release that made the backup, restore the backup there, and upgrade."),
)
KEYS_DIFFER = declare("KEYS_DIFFER", lambda: ..., http=409)(
    _("Can't restore: the backup was made with another SKILLQUAY_SECRET_KEY."),
    _(
        "Pass the backup's key file with `--keys`. Without the file, use `--without-keys`: "
        "users must then sign in again and teams must set their secrets again."
    ),
)
COPY_DIFFERS = declare("COPY_DIFFERS", lambda *, table: ..., http=500)(
    _("Can't finish the copy: the copied rows of %(table)s differ from the source."),
    _("Stop the site if it still writes to the source, and repeat the copy into an empty database."),
)
BLOBS_DAMAGED = declare("BLOBS_DAMAGED", lambda *, count, digest: ..., http=500)(
    _(
        "Stored files with damaged content were not copied (number: %(count)s, "
        "for example %(digest)s); all other data was copied."
    ),
    _("Restore these files from an older backup, or publish the same packages again."),
)
