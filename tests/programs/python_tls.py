"""Run by test_python.py: a TLS server and its client, by Python's ssl. Prints what each saw.

    python_tls.py CERTIFICATE KEY VERSION CIPHERS SIZE
"""

import hashlib
import json
import random
import socket
import ssl
import sys
import threading


def receive(connection: ssl.SSLSocket, size: int) -> str:
    digest = hashlib.sha256()
    while size:
        data = connection.recv(min(size, 65536))
        if not data:
            break
        size -= len(data)
        digest.update(data)
    return digest.hexdigest()


def main() -> None:
    certificate, key, version, ciphers, size = sys.argv[1:5] + [int(sys.argv[5])]
    data = random.Random(size).randbytes(size)
    contexts = []
    for protocol in (ssl.PROTOCOL_TLS_SERVER, ssl.PROTOCOL_TLS_CLIENT):
        context = ssl.SSLContext(protocol)
        context.minimum_version = context.maximum_version = ssl.TLSVersion[version]
        if version != "TLSv1_3":
            context.set_ciphers(ciphers)
        contexts.append(context)
    server, client = contexts
    server.load_cert_chain(certificate, key)
    client.load_verify_locations(certificate)

    seen = {}
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with server.wrap_socket(listener.accept()[0], server_side=True) as connection:
            seen["server"] = receive(connection, size)
            connection.sendall(data)
            seen["bytes"] = connection.recv(1)

    thread = threading.Thread(target=serve)
    thread.start()
    plain = socket.create_connection(listener.getsockname())
    with client.wrap_socket(plain, server_hostname="127.0.0.1") as connection:
        seen["cipher"] = connection.cipher()[0]
        connection.sendall(data)
        seen["client"] = receive(connection, size)
        connection.sendall(b"!")
        thread.join()
    seen["bytes"] = seen["bytes"].decode()
    seen["expected"] = hashlib.sha256(data).hexdigest()
    json.dump(seen, sys.stdout)


main()
