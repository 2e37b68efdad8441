"""TLS between the command and agents, by certificates of one authority.

Both sides show a certificate (TLS 1.3, RFC 8446), the agent's for the name of its host; that both know the secret is
proved within.
"""

from __future__ import annotations

import ssl
from pathlib import Path

from lightloom.base.errors import refuse, text_of

__all__ = ["FILES", "context_in", "fault_of"]

# A side's certificate, its key, and the certificate of the authority of both sides, in PEM.
FILES = CERTIFICATE, KEY, AUTHORITY = ("cert.pem", "key.pem", "ca.pem")

# OpenSSL's X509_V_ERR_… for certificates that no known authority has signed: alone, at the end of a chain, elsewhere.
OF_OTHERS = (18, 19, 20)


def context_in(folder: str, *, of_agent: bool) -> ssl.SSLContext:
    """The context of connections from a folder with `FILES`. Raises `InputError` that names `tls` and the file."""
    place = Path(text_of("tls", folder))
    for name in FILES:
        if not (place / name).is_file():
            raise refuse("tls", f"`{place / name}` is no file; it takes a folder with {', '.join(FILES)}")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if of_agent else ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.verify_mode = ssl.CERT_REQUIRED
    if of_agent:
        # A ticket would wake the command, which waits for messages.
        context.num_tickets = 0
    try:
        context.load_verify_locations(place / AUTHORITY)
    except OSError as error:
        raise refuse("tls", f"`{place / AUTHORITY}` has no certificate in PEM: {_words(error)}") from error
    try:
        # A passphrase would be asked for at a terminal.
        context.load_cert_chain(place / CERTIFICATE, place / KEY, password=str)
    except OSError as error:
        accepts = f"{CERTIFICATE} and {KEY} take a certificate and its key in PEM, without a passphrase"
        raise refuse("tls", f"`{place}`: {_words(error)}; {accepts}") from error
    return context


def fault_of(error: ssl.SSLError) -> str:
    """The fault of a connection's other side, or of this one, in words that follow the name of the other side."""
    if isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError):
        return "it closed its connection"
    if isinstance(error, ssl.SSLCertVerificationError):
        of_others = f"{AUTHORITY} of this side has not signed it" if error.verify_code in OF_OTHERS else None
        return f"its certificate is not accepted: {of_others or error.verify_message.rstrip('.')}"
    words = _words(error)
    _, is_alert, alert = words.partition("alert ")
    if is_alert:
        why = f"its {AUTHORITY} has not signed it" if alert == "unknown ca" else alert
        return f"it does not accept the certificate of this side: {why}"
    return f"TLS fails, {words}; both sides take --tls, or neither"


def _words(error: OSError) -> str:
    if isinstance(error, ssl.SSLError):
        return (error.reason or "not in PEM, or with a passphrase").lower().replace("_", " ")
    return (error.strerror or type(error).__name__).lower()
