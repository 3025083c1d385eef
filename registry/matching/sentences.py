"""Recognizes negated parts of a request, such as the first half of "do not summarize it, translate it", and
the form and wording of the request. These distinguish requests from sentences for which no skill is wanted,
such as "why do cats purr".
"""

import re
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import cache
from itertools import islice, pairwise
from math import sqrt
from pathlib import Path

from registry.core import search_terms
from registry.core.search_terms import TextToken

_NEGATION_WORDS = "don dont not never need instead rather 不 勿 无 别"
_NEGATION_KEYS = frozenset(
    map(search_terms.stem, _NEGATION_WORDS.split())
)  # every negation contains one of these tokens
_MAX_NEGATIONS = 8  # per utterance
_CHARACTERS_BEFORE, _CHARACTERS_AFTER = 24, 24  # searched for a negation around such a token
_NEGATION = re.compile(
    r"""(?:
        (?:(?:^|[^\w\s]\s*)(?:please\s+|but\s+|and\s+|so\s+|just\s+)?|\b(?:please|but|and|so|just)\s+)
            (?:do\s+not|don['’]?t|never|not)
      | \b(?:do\s+not|don['’]?t|no)\s+(?:want|need|have)(?:\s+you)?\s+to
      | \b(?:instead\s+of|rather\s+than|not\s+to)
      | (?<!要)不要 | (?<!用)不用 | (?<![要需])不需要 | 不想 | 不必 | 无需 | 请勿 | 而不是
      | (?:^|[^\w]|请|千万)别
    )\s*""",
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)
_MAX_CHARACTERS = 400  # a longer text is rather material for a skill
_WORDING_FILE = Path(__file__).with_name("wording.txt")
_MAX_WORDING_TOKENS = 60  # further words are rather material for a skill

_SENTENCE_WORDS, _SENTENCE_CJK = 3, 4  # words between spaces, or Chinese characters

_CLAUSE_END = re.compile(r"[,.;:!?，。；：！？…\n]+\s*")
_SUBJECT = r"""(?:i|we|you|he|she|it|they|there|this|that|these|those|the|my|our|your|his|her|its|their
    |some(?:one|body|thing)|every(?:one|body|thing)|no(?:body|thing)|nobody)(?:['’]\w+)?"""
_STATEMENT = re.compile(
    rf"(?:(?:and|but|so|because|well|now|today|yesterday|tonight|as)\s+)*{_SUBJECT}\b",
    re.IGNORECASE | re.VERBOSE,
)
_SMALL_TALK = re.compile(
    r"(?:oh|ah|ha(?:ha)*|hey|hi|hello|yes|yeah|yep|no|nope|okay|ok|sure|thanks?|thank you"
    r"|good (?:morning|night|evening|bye)|(?:sounds|that) \w+"
    r"|sorry|well|wow|wait|bye|congrat\w*|(?:see|talk to) you|never mind|not really|maybe|of course)\b",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"""\b(?:want|need|please|must|should|how|what|which|where|can|could|would\s+you|help|fix|let|so\s+that
    |like\s+(?:to|you)|make|show|find|give|tell|write|create|keeps?|too|instead|has\s+to|have\s+to)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_GENERAL_QUESTION = re.compile(
    r"""(?:so\s+|and\s+|but\s+)?(?:
        why\s+(?:do|does|did|is|are|was|were|can|can['’]?t)\s+(?!my\b|our\b|the\b|this\b|it\b|i\b|we\b)
      | who\s+(?:was|were|made|wrote|invented|painted|discovered|built|won|sang|said)\b
      | when\s+(?:was|were|did)\b
      | (?:where|what)\s+(?:do|does|did)\s+(?!my\b|our\b|i\b|we\b|the\b|this\b)
      | how\s+(?:are|old|far|tall|high|deep|heavy|big|large|loud|hot|cold|fast)\b
      | (?:do|did|are|were|have|will)\s+you\b
      | (?:are|can|do|did)\s+
        (?!(?:my|our|your|the|this|these|that|those|it|there|they|i|we|you|any|all|not)\b)\w+
      | what\s+(?:year|colou?r|sound|animal)\b
      | what(?:['’]s|\s+is)\s+(?:the\s+capital|your)\b
      | (?:is|are|can|do|does)\s+(?:a|an|all|it\s+(?:true|safe|normal|bad)|people|animals|humans)\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_REQUEST_ZH = re.compile(
    r"帮|请|想|要|给|把|查|写|做|改|怎|如何|哪|什么|多少|能|可以|看看|看一下|有没有|是否|吗|用|让|该|下载|生成|分析|翻译|总结|整理"
    r"|(.)不\1"
)
_INSTRUCTION_VERBS = """
    add analy[sz]e append apply approve arrange ask assess audit back backup book build calculate call
    cancel capture change chart check classify clean clear click clone close collect combine comment
    compare compile compress configure connect convert copy count create cut debug decode decrypt delete
    deploy describe design detect diagnose disable dim download draft draw edit email enable encrypt
    estimate evaluate examine explain export extract fetch fill filter find fix format forward generate
    get give grab group identify implement import improve index inspect install integrate invite join
    label launch list load log look lookup make manage map mark merge migrate mock model monitor move
    notify open optimi[sz]e order organi[sz]e outline parse pause pay plan play plot post predict
    prepare print prioriti[sz]e process profile proofread publish pull push put query quiz rank read
    rebuild recommend record redesign refactor release remind remove rename render replace reply report
    resize restart restore resume retrieve review rewrite rotate route run save scan schedule scrape
    search send set setup share shorten show shrink shut sign simplify simulate solve sort split start
    stop store submit subscribe suggest sum summari[sz]e switch sync tag take test tidy track train
    transcribe transfer transform translate trim troubleshoot tune turn tweet type undo uninstall unlock
    unsubscribe update upgrade upload use validate verify view visuali[sz]e watch write zip
"""
_INSTRUCTION = re.compile(
    rf"""(?:(?:ok|okay|now|then|also|hey|hi|so|but|just|quickly|pls|please|and)\W+)*
    (?:(?:can|could|would|will)\s+you\W+(?:please\W+)?
      | (?:please\W+)?help\s+(?:me|us)\W+(?:to\W+|with\W+)?
      | (?:i|we)(?:['’]d|\s+would)?\s+(?:want|need|like|have)\s+(?:you\s+)?to\W+
      | let['’]?s\W+)?
    (?:{"|".join(_INSTRUCTION_VERBS.split())})\b""",
    re.IGNORECASE | re.VERBOSE,
)
_VERBS_ZH = """
    写 做 查 找 看 画 翻译 总结 整理 生成 分析 下载 打开 关掉 关闭 设置 建 添加 加 发
    提取 识别 转 检查 检测 测 算 列 搜 部署 优化 配置 跑 读 记 存 删 合并 拆 剪 拼
    对比 比较 定 讲 教 播放 安排 安装 推荐 创建 编 审 评估 备份 导出 导入 压缩 清理 修
    解释 监控 预订 订 买 用 从 在 给 根据 按 盘点 改
"""
_INSTRUCTION_ZH = re.compile(
    rf"""帮 | 请[^假客吃] | 替我 | 给我 | (?<![这那一几两有好老谁])把
    | (?:^|[，。！？,；\s])(?:再|先|麻烦|来)?(?:{"|".join(_VERBS_ZH.split())})""",
    re.VERBOSE,
)
_WISH_ZH = re.compile(r"(?<!想)想要?(?=\w)(?!到|家|起|念|睡|吃|想)|需要")
_QUESTION_ZH = re.compile(
    r"吗|什么|怎么|怎样|如何|哪|多少|几[个点岁年月天]|是否|有没有|能不能|谁|为何|呢$|？|没$|(.)不\1"
)
_OWN = re.compile(r"\b(?:my|our|i|we|this|these)\b", re.IGNORECASE)
_OWN_ZH = re.compile("[我这]")
_NOUN_PHRASE_ZH = re.compile("^我们?[^，。！？]*的[^，。！？了]{1,6}$")  # 我这半年的血压变化
_TECHNICAL = re.compile(
    r"""\b[A-Z][A-Z0-9]+s?\b | [a-z][A-Z] | \w\.[a-z]\w{1,4}\b | https?: | [a-z]_[a-z] | \b[a-z]+\d+\b
    | \w/\w | \s--?\w
    | \b(?:pdf|docx?|xlsx?|pptx?|csv|json|ya?ml|toml|xml|html|md|svg|png|jpe?g|mp[34]|wav|zip|sql|api|url
        |css|js)s?\b""",
    re.VERBOSE | re.ASCII,  # so that a Latin word next to Chinese characters ends there
)
_NOT_TECHNICAL = re.compile(r"\b(?:OK|TV|DIY|BBQ|KTV|USA?|UK|EU|BC|AD|AM|PM|a/c)\b", re.ASCII)
_STATEMENT_ZH = re.compile(
    "^(?:我|你|他|她|它|咱|大家|谁都|这|那)|(?:了|啊|呀|啦|吧|哦|呢)$|真|太|好[\u4e00-\u9fff]啊"
    "|了[一两二三四五六七八九十几半好]|一直在|居然|原来|难怪|果然|早知道|没想到|恭喜|[又老]把?[\u4e00-\u9fff]{1,6}了?$"
)
_GENERAL_QUESTION_ZH = re.compile(
    "为什么(?!我|这|它|报)|为啥|^谁是|谁(?:写|画|发明|发现)|哪(?:一)?年|有多[\u4e00-\u9fff]|^你(?:是|在|喜欢|会|有|觉得|叫)"
    "|什么时候(?:熟|开花)|能吃吗"
    "|^你(?:们|平时|周末|猜|小时候|最)|世界上最|首都|哪[颗种][\u4e00-\u9fff]|真的.*吗|能.*来.*吗$"
)
_EVERYDAY_WORDS = """
    mom mum mother dad father sister brother aunt uncle cousin grandma grandpa granny grandmother
    grandfather nephew niece neighbou?r wife husband roommate baby toddler kid twin teacher classmate
    childhood cat dog puppy kitten bird fish goldfish horse cow pig sheep goat duck goose frog snake
    spider bee mosquito bat whale dolphin shark penguin bear lion tiger elephant giraffe monkey rabbit
    squirrel owl eagle swallow snail butterfly dinosaur lobster turtle octopus animal knee tooth ear nose
    finger thumb toe elbow tummy belly hair beard tongue throat hiccup sneeze itch snore yawn sofa couch
    pillow blanket curtain kettle spoon fork mug umbrella shoe boot sock glove scarf hat jacket coat shirt
    sweater trousers lace stairs elevator attic candle broom garden lawn flower grass mushroom bicycle
    bike tyre fence moon rainbow sunset sunrise river lake ocean sea mountain volcano desert planet bored
    lonely tired jealous ashamed dream nightmare laugh cry funny lovely birthday funeral divorce married
    party picnic concert pyramid titanic napoleon emperor pharaoh
"""
_EVERYDAY = re.compile(
    rf"\b(?:{'|'.join(_EVERYDAY_WORDS.split())}|feet|teeth|mice|geese|dreamt|dreamed|cried|babies)s?\b",
    re.IGNORECASE,
)
_EVERYDAY_WORDS_ZH = """
    妈 爸 爷爷 奶奶 外婆 外公 姥 哥 姐 弟 妹 叔 阿姨 舅 邻居 隔壁 室友 同桌 老公 老婆 孩子 宝宝 小孩 儿子
    女儿 双胞胎 猫 狗 鸟 金鱼 大象 长颈鹿 企鹅 猴子 老虎 狮子 北极熊 熊猫 蚊子 蜜蜂 蜘蛛 蛇 鲸 鲨鱼 海豚
    恐龙 蝴蝶 蜗牛 乌龟 兔子 松鼠 麻雀 燕子 膝盖 牙 耳朵 鼻子 手指 脖子 头发 肚子 喉咙 打嗝 喷嚏 呼噜 疼
    痒 沙发 枕头 被子 窗帘 雨伞 手套 围巾 鞋 袜子 帽子 外套 裤子 裙子 衣服 勺子 蜡烛 电梯 楼上 楼下 院子
    花园 开花 蘑菇 自行车 轮胎 月亮 彩虹 晚霞 夕阳 星星 行星 大海 海水 火山 沙漠 雪 雨天 梦见 做梦 难过
    伤心 开心 孤单 无聊 生气 想家 羡慕 讨厌 心情 哭 可爱 生日 结婚 相亲 聚会 小时候 排队 演唱会 皇帝 邮局
"""
_EVERYDAY_ZH = re.compile("|".join(_EVERYDAY_WORDS_ZH.split()))


def is_sentence(text: str) -> bool:
    """Whether a text is a request or a question, not one or two keywords: it has three words, four Chinese
    characters, or a question mark after two of them.
    """
    words = text.split()
    cjk = sum(token.is_cjk for token in search_terms.text_tokens(text, limit=_MAX_CHARACTERS))
    if text.rstrip().endswith(("?", "？")):
        return len(words) > 1 or cjk > 1
    return len(words) >= _SENTENCE_WORDS or cjk >= _SENTENCE_CJK


def negated_offsets(utterance: str, tokens: Sequence[TextToken]) -> set[int]:
    """The offsets in the utterance where a negated part starts."""
    marks = islice((token for token in tokens if token.key in _NEGATION_KEYS), _MAX_NEGATIONS)
    return {
        found.end()
        for mark in marks
        for found in _NEGATION.finditer(
            utterance, max(0, mark.start - _CHARACTERS_BEFORE), mark.end + _CHARACTERS_AFTER
        )
    }


class SentenceForm(Enum):
    KEYWORDS = "keywords"  # one or two concepts and no other word
    INSTRUCTION = "instruction"  # says what to do
    STATEMENT = "statement"  # tells something, or is small talk
    GENERAL_QUESTION = "general question"  # about the world or the assistant, not about the user's work
    OTHER = "other"


def sentence_form(utterance: str, *, is_keywords: bool) -> SentenceForm:
    """The form of an utterance. A sentence with a request word, such as *help*, or with a technical word does
    not count as a statement.
    """
    text = utterance[:_MAX_CHARACTERS].strip()
    if is_keywords:
        return SentenceForm.KEYWORDS
    is_technical = has_technical_word(text)
    if not is_technical and _is_general_question(text):
        return SentenceForm.GENERAL_QUESTION
    clauses = [each for each in _CLAUSE_END.split(text) if each]
    if not is_technical and all(map(_states, clauses)):
        return SentenceForm.STATEMENT
    return SentenceForm.INSTRUCTION if _instructs(text, clauses) else SentenceForm.OTHER


def has_technical_word(utterance: str) -> bool:
    """Whether the utterance has a word of software or files, such as *PDF, auth.ts, getUser*."""
    return bool(_TECHNICAL.search(_NOT_TECHNICAL.sub("", utterance[:_MAX_CHARACTERS])))


def has_everyday_word(utterance: str) -> bool:
    """Whether the utterance has a word of private life, such as *sister, squirrel, umbrella*."""
    text = utterance[:_MAX_CHARACTERS]
    return bool(_EVERYDAY.search(text) or _EVERYDAY_ZH.search(text))


def wording(tokens: Sequence[TextToken]) -> float:
    """How a text is worded: above 0 like a request, below 0 like small talk. Between -10 and 10 for most
    texts.
    """
    terms, weights = wording_terms(tokens), _wording_weights()
    return sum(weights.get(term, 0) for term in terms) / sqrt(len(terms) or 1)


def wording_terms(tokens: Sequence[TextToken]) -> list[str]:
    """The distinct words of a text, its pairs of neighboring words, and its first and last word with a
    mark.
    """
    keys = [token.key for token in tokens[:_MAX_WORDING_TOKENS]]
    if not keys:
        return []
    pairs = (f"{one} {two}" for one, two in pairwise(keys))
    return list(dict.fromkeys((*keys, *pairs, f"^{keys[0]}", f"{keys[-1]}$")))


@cache
def _wording_weights() -> Mapping[str, int]:
    """The weights of the terms, from the file that ``bench fit`` writes; read at the first use."""
    lines = _WORDING_FILE.read_text("utf-8").splitlines()[1:]  # the first line describes the file
    return {term: int(weight) for term, _, weight in (line.rpartition(" ") for line in lines)}


def _is_general_question(text: str) -> bool:
    if search_terms.has_cjk(text):
        return bool(_GENERAL_QUESTION_ZH.search(text)) and not _OWN_ZH.search(text)
    return bool(_GENERAL_QUESTION.match(text)) and not _OWN.search(text)


def _instructs(text: str, clauses: Sequence[str]) -> bool:
    if search_terms.has_cjk(text):
        is_wish = bool(_WISH_ZH.search(text)) and not _QUESTION_ZH.search(text)
        return is_wish or bool(_INSTRUCTION_ZH.search(text))
    return any(map(_INSTRUCTION.match, clauses))


def _states(clause: str) -> bool:
    if search_terms.has_cjk(clause):
        is_statement = bool(_STATEMENT_ZH.search(clause)) and not _NOUN_PHRASE_ZH.search(clause)
        return is_statement and not _REQUEST_ZH.search(clause)
    return bool(_STATEMENT.match(clause) or _SMALL_TALK.match(clause)) and not _REQUEST.search(clause)
