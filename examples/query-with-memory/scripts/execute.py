"""在问答表里查找，并建议记住用户关心的主题。"""

import json
from pathlib import Path

FAQ = Path(__file__).parent.parent / "references" / "faq.json"


async def execute(parameters, context=None):
    query = parameters["query"]
    answers = json.loads(FAQ.read_text(encoding="utf-8"))
    matches = [answer for question, answer in answers.items() if query in question]
    print(f"{len(matches)} 条命中")
    return {
        "output": {"matches": matches},
        "format": "object",
        "status": "success",
        "warnings": [] if matches else ["没有找到答案"],
        "memoryWrites": [
            {
                "ownerType": "user",
                "ownerId": (context or {}).get("userId", "anonymous"),
                "type": "preference",
                "importance": 3,
                "content": f"用户关心“{query}”",
                "metadata": {"query": query},
            }
        ],
    }
