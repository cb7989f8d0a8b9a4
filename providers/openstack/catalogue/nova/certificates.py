"""Makes the certificates by which hypervisors know each other when servers move.

python3 certificates.py KEY DIRECTORY

The key of the authority follows from the secret in the file KEY, which all hypervisors have,
so they agree on an authority, and no certificate has to be carried to any of them. Each makes
its own at every start: one for libvirtd, and one for QEMU, which libvirtd does not accept, as
QEMU runs what users give it.
"""

import datetime
import hashlib
import ipaddress
import os
import socket
import sys

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

key_file, directory = sys.argv[1:]
node, network = os.environ["NODE_IP"], os.environ["NETWORK"]


def address():
    """The address of this node that servers move through."""
    if not network:
        return node
    wanted = ipaddress.ip_network(network, strict=False)
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


def name(common):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def certificate(subject, key, extensions):
    now = datetime.datetime.now(datetime.timezone.utc)
    builder = (
        x509.CertificateBuilder()
        .subject_name(name(subject))
        .issuer_name(name(AUTHORITY))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))  # clocks differ
        .not_valid_after(now + datetime.timedelta(days=3650))
    )
    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical)
    return builder.sign(authority, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def usage(authority_of_others):
    # libvirt and QEMU refuse certificates without key_encipherment, which only RSA needs.
    return x509.KeyUsage(
        digital_signature=not authority_of_others, key_cert_sign=authority_of_others, crl_sign=False,
        key_encipherment=not authority_of_others, content_commitment=False, data_encipherment=False,
        key_agreement=False, encipher_only=False, decipher_only=False,
    )


def write(path, content):
    """Nobody reads half a file: a server may be moving."""
    path = os.path.join(directory, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".new", "wb") as f:
        f.write(content)
    os.replace(path + ".new", path)


AUTHORITY = "kolla migration"
CURVE = ec.SECP256R1()
with open(key_file, "rb") as f:
    # Any number below the order of the curve but 0 is a key.
    number = int.from_bytes(hashlib.sha512(f.read()).digest(), "big") % (2**255) + 1
authority = ec.derive_private_key(number, CURVE)
os.umask(0o077)
ip = address()
ca = certificate(AUTHORITY, authority, [(x509.BasicConstraints(ca=True, path_length=0), True), (usage(True), True)])
for program, files in {
    "libvirt": ("cacert.pem", ["servercert.pem", "clientcert.pem"], ["serverkey.pem", "clientkey.pem"]),
    "qemu": ("ca-cert.pem", ["server-cert.pem", "client-cert.pem"], ["server-key.pem", "client-key.pem"]),
}.items():
    key = ec.generate_private_key(CURVE)
    own = certificate(program, key, [
        (x509.BasicConstraints(ca=False, path_length=None), True),
        (usage(False), True),
        (x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]), False),
        (x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(ip))]), False),
    ])
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption(),
    )
    authorities, certificates, keys = files
    write(f"{program}/{authorities}", ca)
    for file in certificates:
        write(f"{program}/{file}", own)
    for file in keys:
        write(f"{program}/{file}", private)
write("address", ip.encode())
