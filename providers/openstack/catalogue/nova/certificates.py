"""Makes the certificates with which hypervisors authenticate each other when servers move.

python3 certificates.py AUTHORITIES DIRECTORY

The file AUTHORITIES has two certificate authorities in PEM, each a key and a certificate:
libvirt's and QEMU's. All hypervisors have it. At every start each makes a certificate of its
own from either. libvirtd refuses QEMU's, as a guest may take over its QEMU.
"""

import datetime
import ipaddress
import os
import re
import socket
import sys

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

authorities_file, directory = sys.argv[1:]
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


def certificate(program, key, authority, authority_key):
    now = datetime.datetime.now(datetime.timezone.utc)
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, program)]))
        .issuer_name(authority.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))  # clocks differ
        .not_valid_after(now + datetime.timedelta(days=3650))  # a pod may run for years
    )
    for extension, critical in (
        (x509.BasicConstraints(ca=False, path_length=None), True),
        # libvirt and QEMU refuse certificates without key_encipherment, which only RSA needs.
        (x509.KeyUsage(
            digital_signature=True, key_encipherment=True, content_commitment=False, data_encipherment=False,
            key_agreement=False, key_cert_sign=False, crl_sign=False, encipher_only=False, decipher_only=False,
        ), True),
        (x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]), False),
        (x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(ip))]), False),
    ):
        builder = builder.add_extension(extension, critical)
    return builder.sign(authority_key, hashes.SHA256())


def write(path, content):
    """Replaces a file atomically."""
    path = os.path.join(directory, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".new", "wb") as f:
        f.write(content)
    os.replace(path + ".new", path)


with open(authorities_file, encoding="ascii") as f:
    pem = [block.encode() for block in re.findall("-----BEGIN.*?-----END[^-]*-----\n?", f.read(), re.DOTALL)]
os.umask(0o077)
ip = address()
PEM = serialization.Encoding.PEM
for program, files, authority_key, authority in (
    ("libvirt", ("cacert.pem", ["servercert.pem", "clientcert.pem"], ["serverkey.pem", "clientkey.pem"]), *pem[:2]),
    ("qemu", ("ca-cert.pem", ["server-cert.pem", "client-cert.pem"], ["server-key.pem", "client-key.pem"]), *pem[2:]),
):
    key = ec.generate_private_key(ec.SECP256R1())
    own = certificate(
        program, key, x509.load_pem_x509_certificate(authority), serialization.load_pem_private_key(authority_key, None),
    )
    private = key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    authorities, certificates, keys = files
    write(f"{program}/{authorities}", authority)
    for file in certificates:
        write(f"{program}/{file}", own.public_bytes(PEM))
    for file in keys:
        write(f"{program}/{file}", private)
write("address", ip.encode())
