"""Makes the certificates and keys with which hypervisors authenticate each other when servers move.

python3 certificates.py SECRET DIRECTORY

The keys of two certificate authorities, libvirt's and QEMU's, follow from the random secret in
the file SECRET. All hypervisors have it, so all have the same authorities. At every start each
makes a certificate of its own from either. libvirtd refuses QEMU's, as a guest may take over
its QEMU. The key of SSH follows from the secret, too: it identifies hypervisors to each other, as
clients and as servers.
"""

import datetime
import hashlib
import ipaddress
import os
import socket
import sys

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

secret_file, directory = sys.argv[1:]
node, network = os.environ["NODE_IP"], os.environ["NETWORK"]


def address():
    """The address of this node that servers move through."""
    if not network:
        return node
    try:
        wanted = ipaddress.ip_network(network, strict=False)
    except ValueError:
        sys.exit(f'migration_network is {network}, and has to be a network such as "198.51.100.0/24".')
    family = socket.AF_INET6 if wanted.version == 6 else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as s:
        try:
            s.connect((str(next(iter(wanted.hosts()))), 9))  # sends nothing
            found = s.getsockname()[0]
        except OSError:
            found = None
    if found is None or ipaddress.ip_address(found) not in wanted:
        sys.exit(f"The node has no address in migration_network {network}.")
    return found


def named(common):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def certificate(subject, issuer, key, issuer_key, extensions):
    now = datetime.datetime.now(datetime.timezone.utc)
    builder = (
        x509.CertificateBuilder()
        .subject_name(named(subject))
        .issuer_name(named(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))  # clocks differ
        .not_valid_after(now + datetime.timedelta(days=3650))  # a pod may run for years
    )
    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical)
    return builder.sign(issuer_key, hashes.SHA256()).public_bytes(PEM)


def usage(is_ca):
    # libvirt and QEMU refuse certificates without key_encipherment, which only RSA needs.
    return x509.KeyUsage(
        digital_signature=not is_ca, key_encipherment=not is_ca, key_cert_sign=is_ca, crl_sign=False,
        content_commitment=False, data_encipherment=False, key_agreement=False, encipher_only=False, decipher_only=False,
    )


def authority_key(program):
    """Any number below the order of the curve but 0 is a key."""
    digest = hashlib.sha512(f"{program} {secret}".encode()).digest()
    return ec.derive_private_key(int.from_bytes(digest, "big") % 2**255 + 1, CURVE)


def write(path, content):
    """Replaces a file atomically."""
    path = os.path.join(directory, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".new", "wb") as f:
        f.write(content)
    os.replace(path + ".new", path)


PEM = serialization.Encoding.PEM
CURVE = ec.SECP256R1()
with open(secret_file, encoding="utf-8") as f:
    secret = f.read()
os.umask(0o077)
ip = address()
for program, authority_file, certificates, keys in (
    ("libvirt", "cacert.pem", ["servercert.pem", "clientcert.pem"], ["serverkey.pem", "clientkey.pem"]),
    ("qemu", "ca-cert.pem", ["server-cert.pem", "client-cert.pem"], ["server-key.pem", "client-key.pem"]),
):
    ca, ca_key = f"authority of {program}", authority_key(program)
    authority = certificate(ca, ca, ca_key, ca_key, [
        (x509.BasicConstraints(ca=True, path_length=0), True),
        (usage(True), True),
    ])
    key = ec.generate_private_key(CURVE)
    own = certificate(program, ca, key, ca_key, [
        (x509.BasicConstraints(ca=False, path_length=None), True),
        (usage(False), True),
        (x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]), False),
        (x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(ip))]), False),
    ])
    private = key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    write(f"{program}/{authority_file}", authority)
    for file in certificates:
        write(f"{program}/{file}", own)
    for file in keys:
        write(f"{program}/{file}", private)
identity = ed25519.Ed25519PrivateKey.from_private_bytes(hashlib.sha256(f"identity of SSH {secret}".encode()).digest())
public = identity.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
write("ssh/identity", identity.private_bytes(PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption()))
write("ssh/known", b"* " + public + b"\n")
write("ssh/authorized", b"restrict " + public + b"\n")
write("address", ip.encode())
