from django.apps import AppConfig


class WorkerConfig(AppConfig):
    name = "worker"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from registry.erasing import Keeper, register_keeper
        from registry.events.receiving import register_starter
        from registry.imports import queue
        from registry.publishing.following import register_publication_follower
        from registry.publishing.readiness import register_readiness
        from registry.rules import register_follower
        from registry.storage import register_references
        from worker import artifacts, codes, erasing, inputs  # noqa: F401  (codes declares them)
        from worker.approvals import codes as approval_codes  # noqa: F401
        from worker.approvals.deciding import follow
        from worker.dependencies import codes as dependency_codes  # noqa: F401
        from worker.dependencies.following import follow_publication
        from worker.dependencies.keeping import references as kept_dependencies
        from worker.dependencies.preparing import readiness_of
        from worker.dispatch import wake_importer
        from worker.event_runs import start
        from worker.memory import codes as memory_codes  # noqa: F401
        from worker.protocols import codes as protocol_codes  # noqa: F401

        register_references(artifacts.references)
        register_references(kept_dependencies)
        register_publication_follower(follow_publication)
        register_readiness(readiness_of)
        queue.register_waker(wake_importer)
        register_references(inputs.references)
        register_starter(start)
        register_follower(follow)
        register_keeper(Keeper(erasing.erase_version, erasing.export_person, erasing.erase_person))
