"""One local Spark session for every test that wants one.

    from spark import quiet, spark  # the fixture: an ibis backend on Spark

    pytestmark = quiet

The fixture skips with a reason where pyspark or Java is missing. Starting takes some ten seconds, once in a process.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
import warnings
from functools import cache
from typing import Any

import pytest

# What pyspark itself does, seen where warnings are errors: it leaves result sockets to the garbage collector, and uses
# what pandas is about to drop.
quiet = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore:The copy keyword is deprecated"),
]


@cache
def session() -> Any:
    """The session: two threads, no web page, nothing kept, ANSI mode at its default; stopped when Python ends."""
    from pyspark.sql import SparkSession

    folder = tempfile.mkdtemp(prefix="utmost-spark-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = (
        SparkSession.builder.master("local[2]")
        .appName("utmost tests")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "1g")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", folder)
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spark_session = builder.getOrCreate()
    spark_session.sparkContext.setLogLevel("OFF")
    atexit.register(spark_session.stop)
    return spark_session


@cache
def backend() -> Any:
    """The session as an ibis backend."""
    import ibis

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ibis.pyspark.connect(session())


@pytest.fixture(scope="session")
def spark() -> Any:
    """An ibis backend on the one session, or a skip that says what is missing."""
    pytest.importorskip("ibis", reason="ibis is not installed: pip install 'utmost[spark]'")
    pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'utmost[spark]'")
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        pytest.skip("Java is not installed, and Spark needs it: install a Java runtime, 17 or later")
    return backend()
