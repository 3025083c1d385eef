from django.urls import path

from worker.memory.api.memories import Memories, MemoryDetail, MemoryExport, MemoryRestoration
from worker.memory.api.memory_writes import MemoryWriteDecision, MemoryWriteDecisions, MemoryWrites

urlpatterns = [
    path("memories", Memories.as_view(), name="api-memories"),
    path("memories/export", MemoryExport.as_view(), name="api-memory-export"),
    path("memories/<str:uid>", MemoryDetail.as_view(), name="api-memory"),
    path("memories/<str:uid>/restore", MemoryRestoration.as_view(), name="api-memory-restore"),
    path("memory-writes", MemoryWrites.as_view(), name="api-memory-writes"),
    path("memory-writes/decisions", MemoryWriteDecisions.as_view(), name="api-memory-decisions"),
    path("memory-writes/<str:uid>/decision", MemoryWriteDecision.as_view(), name="api-memory-decision"),
]
