"""TLS context of a process: one for all clients, and another when the environment names others."""

import ssl

from burnish.support.tls import tls_context


def test_all_clients_share_one_that_checks_certificates_and_names():
    found = tls_context()

    assert tls_context() is found
    assert (found.verify_mode, found.check_hostname) == (ssl.CERT_REQUIRED, True)


def test_certificates_that_the_environment_names_later_are_used(monkeypatch, tmp_path):
    found = tls_context()
    (tmp_path / "certificates").mkdir()

    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path / "certificates"))
    other = tls_context()

    assert other is not found
    assert other.get_ca_certs() == []
