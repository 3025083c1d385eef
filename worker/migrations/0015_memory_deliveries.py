from django.db import migrations


def queue_memory_changes(apps, schema_editor):
    """Turns the undelivered memory changes into deliveries, with the same ids."""
    changes = apps.get_model("worker", "MemoryChange").objects.order_by("pk")
    if not changes.exists():
        return
    subscription = apps.get_model("worker", "NotificationSubscription").objects.create(channel="memory")
    delivery = apps.get_model("worker", "Delivery")
    delivery.objects.bulk_create(
        (
            delivery(
                uid=change.uid,
                subscription=subscription,
                kind="memory",
                payload={"memory": change.memory_uid, "deleted": change.deleted},
                attempts=change.attempts,
                due_at=change.due_at,
                created_at=change.created_at,
                error=change.failure,
            )
            for change in changes.iterator()
        ),
        batch_size=500,
    )


class Migration(migrations.Migration):

    dependencies = [("worker", "0014_deliveries")]

    operations = [
        migrations.RunPython(queue_memory_changes, migrations.RunPython.noop),
        migrations.DeleteModel(name="MemoryChange"),
    ]
