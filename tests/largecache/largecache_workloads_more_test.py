"""More workloads, as in largecache_workloads_test.py: node, sqlite, OpenSSL alone and under a TLS transfer."""

import hashlib
import sys

from conftest import LONG_TOO
from preloading import KNOBS, SHORT, each_knobs, is_built, needs, run, succeed

pytestmark = is_built

NODE_PROGRAM = """
const crypto = require('crypto'), zlib = require('zlib');
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
function work(seed) {
  const digest = crypto.createHash('sha256');
  for (let i = 0; i < 40; i++) {
    const size = 150000 + (seed * 7919 + i * 104729) % 3000000;
    const block = Buffer.alloc(size);
    if (!block.equals(new Uint8Array(size))) throw new Error('not zero');
    const typed = new Float64Array(20000 + i * 1000);
    if (typed.some(x => x !== 0)) throw new Error('not zero');
    for (let at = 0; at < size; at += 997) block[at] = seed + i;
    const packed = zlib.deflateSync(block, { level: 1 });
    digest.update(zlib.inflateSync(packed)).update(packed);
  }
  return digest.digest('hex');
}
if (isMainThread) {
  const results = [0, 1, 2].map(seed => new Promise((yes, no) =>
    new Worker(__filename, { workerData: seed }).on('message', yes).on('error', no)));
  results.push(Promise.resolve(work(9)));
  Promise.all(results).then(all => console.log(all.join('\\n')));
} else {
  parentPort.postMessage(work(workerData));
}
"""


@needs("node")
def test_node_with_workers_and_zeroed_buffers_prints_the_same(tmp_path):
    (tmp_path / "work.js").write_text(NODE_PROGRAM)
    plain = run(["node", "work.js"], preload=False, cwd=tmp_path)
    assert plain.returncode == 0, plain.stderr.decode()
    for knobs in KNOBS.values() if LONG_TOO else map(KNOBS.get, SHORT):
        assert succeed(["node", "work.js"], cwd=tmp_path, **knobs) == plain.stdout, knobs


SQL = """
PRAGMA cache_size = -32000;
PRAGMA temp_store = memory;
CREATE TABLE t(a INTEGER PRIMARY KEY, b INTEGER, c TEXT, d BLOB);
BEGIN;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)
INSERT INTO t SELECT i, (i * 7919) % 60013, printf('%d and %x', i * i, i), zeroblob(i % 50 * 10) FROM n;
COMMIT;
CREATE INDEX by_b ON t(b, c);
SELECT count(*), sum(b), sum(length(c)), sum(length(d)) FROM t;
SELECT sum(hex(d) GLOB '*[^0]*') FROM t;
SELECT b, c FROM t WHERE b BETWEEN 1000 AND 1010 ORDER BY c;
UPDATE t SET d = zeroblob(3000000) WHERE a % 6000 = 0;
SELECT length(hex(d)), hex(d) GLOB '*[^0]*' FROM t WHERE a % 6000 = 0;
DELETE FROM t WHERE b % 3 = 0;
SELECT count(*), group_concat(substr(c, 1, 3), '') = '' FROM (SELECT c FROM t ORDER BY c DESC);
SELECT length(group_concat(c)) FROM (SELECT c FROM t ORDER BY b);
VACUUM;
PRAGMA integrity_check;
"""


@needs("sqlite3")
def test_sqlite_answers_the_same_and_finds_its_file_whole(tmp_path):
    def answers(name, preload, **knobs):
        return run(["sqlite3", "-bail", str(tmp_path / name), SQL], preload=preload, **knobs)

    plain = answers("plain.db", False)
    assert plain.returncode == 0 and plain.stdout.endswith(b"ok\n"), plain.stderr.decode()
    for number, knobs in enumerate(KNOBS.values() if LONG_TOO else map(KNOBS.get, SHORT)):
        preloaded = answers(f"{number}.db", True, **knobs)
        assert (preloaded.returncode, preloaded.stdout, preloaded.stderr) == (0, plain.stdout, b""), knobs


@needs("openssl")
@each_knobs
def test_openssl_speed_runs_and_keys_and_digests_are_right(tmp_path, knobs):
    speed = run(["openssl", "speed", "-seconds", "1", "-bytes", "4194304", "-evp", "aes-128-gcm"], **knobs)
    assert speed.returncode == 0 and b"4194304 bytes" in speed.stdout + speed.stderr
    (tmp_path / "plain").write_bytes(hashlib.sha512(b"1").digest() * 100_000)
    key = ["-K", "00" * 16, "-iv", "11" * 16]
    succeed(["openssl", "enc", "-aes-128-cbc", *key, "-bufsize", "2000000", "-in", "plain", "-out", "secret"], cwd=tmp_path,
            **knobs)
    succeed(["openssl", "enc", "-d", "-aes-128-cbc", *key, "-bufsize", "1000000", "-in", "secret", "-out", "back"], cwd=tmp_path,
            **knobs)
    assert (tmp_path / "back").read_bytes() == (tmp_path / "plain").read_bytes()


TRANSFER = """
import hashlib, socket, ssl, sys, threading
folder = sys.argv[1]
server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
server.load_cert_chain(folder + '/cert.pem', folder + '/key.pem')
listener = socket.create_server(('127.0.0.1', 0))
sent = bytearray(30_000_000)
sent[::1009] = b'z' * len(sent[::1009])
def serve():
    with server.wrap_socket(listener.accept()[0], server_side=True) as out:
        for at in range(0, len(sent), 3_000_000):
            out.sendall(sent[at : at + 3_000_000])
threading.Thread(target=serve).start()
client = ssl.create_default_context(cafile=folder + '/cert.pem')
got = hashlib.sha256()
with client.wrap_socket(socket.create_connection(listener.getsockname()), server_hostname='localhost') as come:
    while part := come.recv(1_000_000):
        got.update(part)
assert got.hexdigest() == hashlib.sha256(sent).hexdigest()
print(got.hexdigest())
"""


@needs("openssl")
@each_knobs
def test_a_tls_transfer_arrives_as_it_was_sent(tmp_path, knobs):
    succeed(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-days", "2",
             "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"], cwd=tmp_path, **knobs)
    assert succeed([sys.executable, "-c", TRANSFER, tmp_path], **knobs)
