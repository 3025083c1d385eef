"""Stores blobs as objects in an S3 bucket."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, cast

import boto3
from boto3.exceptions import Boto3Error
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from registry.core.errors import UNAVAILABLE

log = logging.getLogger(__name__)
_MAX_ATTEMPTS = 3
_MAX_IN_MEMORY = 8 * 2**20  # bytes; a longer stream goes through a temporary file


class S3Backend:
    """Stores blobs as ``<prefix>/ab/cd/<key>``. S3 makes an object visible only when it is complete."""

    def __init__(self, bucket: str, prefix: str) -> None:
        self.bucket = bucket
        self.prefix = f"{prefix}/" if prefix else ""
        self.client = _client(
            settings.SKILLQUAY_S3_ENDPOINT,
            settings.SKILLQUAY_S3_REGION,
            settings.SKILLQUAY_S3_ACCESS_KEY,
            settings.SKILLQUAY_S3_SECRET_KEY,
        )

    @contextmanager
    def open_writer(self) -> Iterator[_ObjectWriter]:
        with tempfile.SpooledTemporaryFile(max_size=_MAX_IN_MEMORY) as file:
            yield _ObjectWriter(self, file)

    def open(self, key: str) -> BinaryIO:
        file = tempfile.SpooledTemporaryFile(max_size=_MAX_IN_MEMORY)  # noqa: SIM115  (the caller closes it)
        try:
            with _translate_errors():
                self.client.download_fileobj(self.bucket, self.object_name(key), file)
        except BaseException:
            file.close()
            raise
        file.seek(0)
        return cast(BinaryIO, file)

    def exists(self, key: str) -> bool:
        return self.modified_at(key) is not None

    def is_reachable(self) -> bool:
        """Always True. Raises UNAVAILABLE if the bucket does not respond or does not exist."""
        with _translate_errors():
            self.client.list_objects_v2(Bucket=self.bucket, Prefix=self.prefix, MaxKeys=1)
        return True

    def local_path(self, key: str) -> Path | None:
        return None

    def signed_url(self, key: str, *, content_type: str, disposition: str, for_s: int) -> str:
        target = {"Bucket": self.bucket, "Key": self.object_name(key)}
        headers = {"ResponseContentType": content_type, "ResponseContentDisposition": disposition}
        url = self.client.generate_presigned_url("get_object", Params=target | headers, ExpiresIn=for_s)
        return cast(str, url)

    def older_than(self, age: timedelta) -> Iterator[tuple[str, int]]:
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=self.prefix)
        with _translate_errors():
            items = [item for page in pages for item in page.get("Contents", ())]
        for item in items:
            if _age(item["LastModified"]) >= age:
                yield item["Key"].rsplit("/", 1)[-1], item["Size"]

    def remove(self, key: str, age: timedelta) -> bool:
        """Removes the blob if it still exists and is at least ``age`` old; returns whether it was removed.

        S3 has no locks: content that is stored again between the age check and the removal is lost
        (docs/howto/run-a-production-site.md).
        """
        modified = self.modified_at(key)
        if modified is None or _age(modified) < age:
            return False
        with _translate_errors():
            self.client.delete_object(Bucket=self.bucket, Key=self.object_name(key))
        return True

    def remove_leftovers(self, age: timedelta) -> int:
        """Aborts multipart uploads that were started at least ``age`` ago; returns the count. Listings of the
        bucket do not contain these uploads.
        """
        with _translate_errors():
            pages = self.client.get_paginator("list_multipart_uploads").paginate(
                Bucket=self.bucket, Prefix=self.prefix
            )
            stale = [u for page in pages for u in page.get("Uploads", ()) if _age(u["Initiated"]) >= age]
            for upload in stale:
                self.client.abort_multipart_upload(
                    Bucket=self.bucket, Key=upload["Key"], UploadId=upload["UploadId"]
                )
        return len(stale)

    def modified_at(self, key: str) -> datetime | None:
        with suppress(FileNotFoundError), _translate_errors():
            head = self.client.head_object(Bucket=self.bucket, Key=self.object_name(key))
            return cast(datetime, head["LastModified"])
        return None

    def object_name(self, key: str) -> str:
        return f"{self.prefix}{key[:2]}/{key[2:4]}/{key}"


class _ObjectWriter:
    def __init__(self, bucket: S3Backend, file: tempfile.SpooledTemporaryFile[bytes]) -> None:
        self.bucket, self.file = bucket, file

    def write(self, chunk: bytes) -> None:
        self.file.write(chunk)

    def commit(self, key: str) -> None:
        self.file.seek(0)
        with _translate_errors():
            self.bucket.client.upload_fileobj(self.file, self.bucket.bucket, self.bucket.object_name(key))


@cache
def _client(endpoint: str, region: str, access_key: str, secret_key: str) -> Any:
    """An S3 client with the keys from the settings, never with keys that boto3 finds on the host. Raises
    ImproperlyConfigured if a key is missing.
    """
    if not (access_key and secret_key):
        raise ImproperlyConfigured(
            "Can't use STORAGE_URL without credentials. Set SKILLQUAY_S3_ACCESS_KEY and "
            "SKILLQUAY_S3_SECRET_KEY, as described in docs/reference/settings.md."
        )
    return boto3.session.Session().client(
        "s3",
        endpoint_url=endpoint or None,
        region_name=region,
        aws_access_key_id=access_key,
        aws_secret_access_key=secret_key,
        config=Config(
            connect_timeout=10, read_timeout=60, retries={"max_attempts": _MAX_ATTEMPTS, "mode": "standard"}
        ),
    )


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Context manager that turns a boto3 error into FileNotFoundError for a missing object, otherwise into
    UNAVAILABLE, which is logged.
    """
    try:
        yield
    except (BotoCoreError, Boto3Error, ClientError) as error:
        code = error.response.get("Error", {}).get("Code") if isinstance(error, ClientError) else None
        if code in {"404", "NoSuchKey", "NotFound"}:
            raise FileNotFoundError(str(error)) from error
        log.warning("A request to STORAGE_URL failed: %s", error)
        raise UNAVAILABLE.refusal() from error


def _age(moment: datetime) -> timedelta:
    return datetime.now(UTC) - moment
