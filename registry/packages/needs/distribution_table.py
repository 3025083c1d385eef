"""Well-known Python modules and their distributions. Add a name only if its distribution is certain."""

# Modules whose distribution has the module's name, with "-" for "_".
SAME_NAMES = """
    accelerate aiobotocore aiofiles aiohttp aiosqlite alembic altair anndata annotated_types anthropic anyio
    apscheduler arrow arviz asgiref astropy asyncpg attrs babel backoff bcrypt bioservices black bleach
    blinker bokeh boto3 botocore bottle cachetools cairosvg cartopy catboost celery cellpose certifi cffi
    chardet charset_normalizer chromadb cirq click cobra cohere colorama coloredlogs contourpy cryptography
    cvxpy cycler cyclopts dash datasets dateparser deepchem deepdiff deepl defusedxml deprecated diffusers
    dill distributed distro django docker docopt docutils docx2pdf docxtpl duckdb ebooklib einops
    elasticsearch email_validator esprima et_xmlfile ete3 evaluate ezdxf faker fastapi fastmcp feedparser
    filelock filetype fire flake8 flask frozenlist fsspec gensim geopandas geopy gget gradio graphviz
    greenlet grpclib gunicorn gymnasium h11 h2 h5py hdbscan holoviews html2text html5lib httpcore httplib2
    httpx httpx_sse huggingface_hub humanize hvplot hypothesis icalendar idna imageio imageio_ffmpeg inflect
    instructor ipywidgets isort itsdangerous jax jaxlib jieba jinja2 jiter jmespath joblib joserfc json5
    jsonpatch jsonpath_ng jsonpointer jsonschema kaleido keras kombu kubernetes langchain
    langchain_anthropic langchain_community langchain_core langchain_openai langdetect langgraph ldap3
    leidenalg librosa lifelines lightgbm lightning litellm llvmlite loguru louvain lxml lz4 mako mammoth
    markdown markdown2 markdownify markitdown markupsafe marshmallow mashumaro matplotlib mcp mdurl
    mediapipe mistune mlflow moviepy mp_api mpmath msal msgpack msgspec multidict mutagen mypy nbclient
    nbconvert nbformat neo4j networkx nibabel nltk nox num2words numba numexpr numpy oauthlib ollama
    omegaconf onnx onnxruntime openai openpyxl optuna orjson oscrypto outlines packaging pandas pandera
    panel papermill paramiko parsel passlib pathspec patsy pdf2image pdfkit pdfplumber peewee peft pendulum
    pexpect phonenumbers pika pikepdf pinecone pint platformdirs playwright plotly plotnine pluggy polars
    pooch praw prefect prettytable prometheus_client prompt_toolkit psutil psycopg pulp pyairtable pyarrow
    pyautogui pycparser pydantic pydantic_ai pydantic_settings pydeseq2 pydicom pydub pyfiglet pygments
    pylint pymatgen pymc pymongo pymoo pymupdf4llm pymysql pynput pyopencl pyparsing pypdf PyPDF2 pypdfium2
    pyperclip pypinyin pyproj PyQt5 PyQt6 pyright pysam PySide6 pyspark pystac pytesseract pytest
    pytest_asyncio python_calamine pytz pyzbar qdrant_client qiskit qrcode qutip ragas rapidfuzz rasterio
    ray rdkit redis regex reportlab requests requests_html requests_oauthlib requests_toolbelt responses
    rich rich_click rsa ruff s3fs safetensors scanpy scapy scipy scrapy scvelo seaborn selenium
    sentencepiece sentry_sdk setuptools sh shap shapely shellingham simplejson simpy six slack_sdk sniffio
    sortedcontainers sounddevice soundfile soupsieve spacy sphinx spikeinterface sqlalchemy sqlfluff sqlglot
    sqlmodel sqlparse stable_baselines3 starlette statsmodels streamlit stripe structlog svgwrite sympy
    tabulate tenacity tensorboard tensorflow termcolor textblob textdistance textual tifffile tiktoken timm
    tokenizers toml tomli tomli_w tomlkit toolz torch torchaudio torchmetrics torchvision tornado tox tqdm
    traitlets transformers trimesh trio tweepy twilio typer typing_extensions tzdata tzlocal ujson unidecode
    uritemplate urllib3 uvicorn uvloop vaderSentiment validators virtualenv wandb watchdog watchfiles
    weasyprint webcolors websockets werkzeug wikipedia wordcloud wrapt xarray xgboost xlrd xlsxwriter xlwt
    xmlsec xmltodict xxhash yara_x yarl yfinance youtube_transcript_api yt_dlp zarr zipp zstandard
"""

# Modules whose distribution has another name; a dotted name goes before a shorter one.
OTHER_NAMES = """
    absl absl-py
    attr attrs
    azure.ai.documentintelligence azure-ai-documentintelligence
    azure.ai.inference azure-ai-inference
    azure.ai.projects azure-ai-projects
    azure.cosmos azure-cosmos
    azure.identity azure-identity
    azure.keyvault.secrets azure-keyvault-secrets
    azure.servicebus azure-servicebus
    azure.storage.blob azure-storage-blob
    Bio biopython
    bs4 beautifulsoup4
    bson pymongo
    cairo pycairo
    Crypto pycryptodome
    Cryptodome pycryptodomex
    cv2 opencv-python-headless
    Cython cython
    dateutil python-dateutil
    discord discord.py
    dns dnspython
    docx python-docx
    dotenv python-dotenv
    edgar edgartools
    exa_py exa-py
    faiss faiss-cpu
    fake_useragent fake-useragent
    fitz pymupdf
    flask_cors flask-cors
    flask_sqlalchemy flask-sqlalchemy
    fontTools fonttools
    frontmatter python-frontmatter
    git gitpython
    github pygithub
    gitlab python-gitlab
    google.ai.generativelanguage google-ai-generativelanguage
    google.api_core google-api-core
    google.auth google-auth
    google.cloud.aiplatform google-cloud-aiplatform
    google.cloud.bigquery google-cloud-bigquery
    google.cloud.firestore google-cloud-firestore
    google.cloud.pubsub_v1 google-cloud-pubsub
    google.cloud.secretmanager google-cloud-secret-manager
    google.cloud.speech google-cloud-speech
    google.cloud.speech_v1 google-cloud-speech
    google.cloud.storage google-cloud-storage
    google.cloud.texttospeech google-cloud-texttospeech
    google.cloud.translate google-cloud-translate
    google.cloud.translate_v2 google-cloud-translate
    google.cloud.vision google-cloud-vision
    google.genai google-genai
    google.generativeai google-generativeai
    google.oauth2 google-auth
    google.protobuf protobuf
    google_auth_oauthlib google-auth-oauthlib
    googleapiclient google-api-python-client
    graphql graphql-core
    grpc grpcio
    grpc_tools grpcio-tools
    hydra hydra-core
    igraph igraph
    imblearn imbalanced-learn
    IPython ipython
    jose python-jose
    jwt pyjwt
    kafka kafka-python
    llama_cpp llama-cpp-python
    llama_index llama-index
    magic python-magic
    mpl_toolkits matplotlib
    mysql.connector mysql-connector-python
    nacl pynacl
    notion_client notion-client
    odf odfpy
    openbabel openbabel-wheel
    OpenGL pyopengl
    OpenSSL pyopenssl
    opentelemetry opentelemetry-api
    opentelemetry.exporter.otlp opentelemetry-exporter-otlp
    opentelemetry.sdk opentelemetry-sdk
    pdfminer pdfminer.six
    PIL pillow
    pkg_resources setuptools
    pptx python-pptx
    psycopg2 psycopg2-binary
    pwn pwntools
    pyaudio pyaudio
    PyInstaller pyinstaller
    pylab matplotlib
    pymupdf pymupdf
    pythoncom pywin32
    pywt pywavelets
    readability readability-lxml
    rest_framework djangorestframework
    ruamel ruamel.yaml
    ruamel.yaml ruamel.yaml
    sentence_transformers sentence-transformers
    serial pyserial
    skbio scikit-bio
    skimage scikit-image
    sklearn scikit-learn
    slugify python-slugify
    socks pysocks
    speech_recognition speechrecognition
    tabula tabula-py
    tavily tavily-python
    tdc pytdc
    telegram python-telegram-bot
    tree_sitter tree-sitter
    tree_sitter_languages tree-sitter-languages
    umap umap-learn
    usb pyusb
    websocket websocket-client
    whisper openai-whisper
    win32com pywin32
    wx wxpython
    Xlib python-xlib
    yaml pyyaml
    zmq pyzmq
"""
