"""Debian's python3-fido2 judges the emulated authenticator: python3 judges.py ROOT.der. It asks for two touches."""
import sys
import time
from hashlib import sha256

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from fido2.attestation import PackedAttestation
from fido2.ctap1 import APDU, ApduError, Ctap1
from fido2.ctap2 import Ctap2
from fido2.hid import STATUS, CtapHidDevice

RP_ID = 'devmgr.invalid'
RP_ID_HASH = sha256(RP_ID.encode()).digest()
CLIENT_DATA_HASH = bytes(range(32))


def check_chain(der):
    """Raises InvalidSignature unless the root has signed the certificate."""
    with open(sys.argv[1], 'rb') as file:
        root = x509.load_der_x509_certificate(file.read())
    leaf = x509.load_der_x509_certificate(der)
    root.public_key().verify(leaf.signature, leaf.tbs_certificate_bytes, ec.ECDSA(leaf.signature_hash_algorithm))


def make_credential(device):
    ctap2 = Ctap2(device)
    keepalives = []
    made = ctap2.make_credential(
        CLIENT_DATA_HASH,
        {'id': RP_ID, 'name': 'Lab'},
        {'id': b'0', 'name': 'lab'},
        [{'type': 'public-key', 'alg': -7}],
        on_keepalive=keepalives.append,
    )
    assert keepalives == [STATUS.UPNEEDED], keepalives
    assert made.auth_data.rp_id_hash == RP_ID_HASH
    assert made.auth_data.credential_data.aaguid == ctap2.info.aaguid
    PackedAttestation().verify(made.att_statement, made.auth_data, CLIENT_DATA_HASH)
    check_chain(made.att_statement['x5c'][0])


def register(device):
    ctap1 = Ctap1(device)
    while True:
        try:
            registration = ctap1.register(CLIENT_DATA_HASH, RP_ID_HASH)
            break
        except ApduError as error:
            assert error.code == APDU.USE_NOT_SATISFIED, error
            # U2F has no event for a touch: the host asks again.
            time.sleep(0.1)
    registration.verify(RP_ID_HASH, CLIENT_DATA_HASH)
    check_chain(registration.certificate)


[device] = CtapHidDevice.list_devices()
make_credential(device)
register(device)
print('verified')
