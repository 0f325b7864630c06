#include "certificate.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace zerotax {
namespace {

template <auto Free>
struct Deleter {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Deleter<X509_free>>;
using Bio = std::unique_ptr<BIO, Deleter<BIO_free>>;

bool extend(X509* certificate, int extension, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  const std::unique_ptr<X509_EXTENSION, Deleter<X509_EXTENSION_free>> made(
      X509V3_EXT_conf_nid(nullptr, &context, extension, value));
  return made != nullptr && X509_add_ext(certificate, made.get(), -1) == 1;
}

Certificate make_certificate(EVP_PKEY* key) {
  constexpr long kDay = 86'400;
  Certificate certificate(X509_new());
  if (certificate == nullptr) return nullptr;
  X509_set_version(certificate.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  // The certificate is valid from yesterday on, because the clock may be changed during a run.
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -kDay);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 7 * kDay);
  X509_set_pubkey(certificate.get(), key);
  X509_NAME* name = X509_get_subject_name(certificate.get());
  const auto* common = reinterpret_cast<const unsigned char*>("localhost");
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, common, -1, -1, 0);
  X509_set_issuer_name(certificate.get(), name);
  const bool complete = extend(certificate.get(), NID_basic_constraints, "critical,CA:TRUE") &&
                        extend(certificate.get(), NID_key_usage, "critical,digitalSignature,keyCertSign") &&
                        extend(certificate.get(), NID_subject_key_identifier, "hash") &&
                        extend(certificate.get(), NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1") &&
                        X509_sign(certificate.get(), key, EVP_sha256()) > 0;
  return complete ? std::move(certificate) : nullptr;
}

}  // namespace

ServerContext make_server_context(std::string& pem) {
  const Key key(EVP_EC_gen("P-256"));
  const Certificate certificate = key != nullptr ? make_certificate(key.get()) : nullptr;
  ServerContext context(SSL_CTX_new(TLS_server_method()));
  if (certificate == nullptr || context == nullptr) return nullptr;
  if (SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION) != 1 ||
      SSL_CTX_use_certificate(context.get(), certificate.get()) != 1 ||
      SSL_CTX_use_PrivateKey(context.get(), key.get()) != 1) {
    return nullptr;
  }
  // Sends no ticket, because a client that only receives does not resume its session.
  SSL_CTX_set_num_tickets(context.get(), 0);
  const Bio text(BIO_new(BIO_s_mem()));
  if (text == nullptr || PEM_write_bio_X509(text.get(), certificate.get()) != 1) return nullptr;
  char* begin = nullptr;
  const long length = BIO_get_mem_data(text.get(), &begin);
  pem.assign(begin, static_cast<std::size_t>(length));
  return context;
}

}  // namespace zerotax
