/* SPDX-License-Identifier: MIT */
/* requests.h - keys and certificate requests that we do not make ourselves. */
#ifndef TESTS_LIB_REQUESTS_H
#define TESTS_LIB_REQUESTS_H

/* clang-format off */

/* P-256, well signed; asks to be CN=evil, a CA, and a server for localhost */
static const char request_greedy[] =
    "-----BEGIN CERTIFICATE REQUEST-----\n"
    "MIIBFzCBvgIBADAPMQ0wCwYDVQQDDARldmlsMFkwEwYHKoZIzj0CAQYIKoZIzj0D\n"
    "AQcDQgAE4qxFwCloNgYTu8C2e8TwBPy7MUAQOSSlOI7GyRORDVcDthhZZoLZFGnO\n"
    "OGBL//yk19qOsBzLwjxsJPTSsFXjIaBNMEsGCSqGSIb3DQEJDjE+MDwwDwYDVR0T\n"
    "AQH/BAUwAwEB/zATBgNVHSUEDDAKBggrBgEFBQcDATAUBgNVHREEDTALgglsb2Nh\n"
    "bGhvc3QwCgYIKoZIzj0EAwIDSAAwRQIhAJqHm8jr50+t0AxaY94KZheTPZeXjaiW\n"
    "l8GkFzmUorE4AiBRDP1KGzSf4GOdnCM+rL3jSf3J1wKf0fpol/ikoID/hw==\n"
    "-----END CERTIFICATE REQUEST-----\n";

/* RSA, 1024 bits */
static const char request_rsa[] =
    "-----BEGIN CERTIFICATE REQUEST-----\n"
    "MIIBSzCBtQIBADAMMQowCAYDVQQDDAFhMIGfMA0GCSqGSIb3DQEBAQUAA4GNADCB\n"
    "iQKBgQCf4S5QfGoHSpy6QhpXm2o+RmBhM0xoFOq6yjm3t5bMk9eAdKlukr4nRUe0\n"
    "1Ga8dmrSTVg1lhKexHCo0T+eodDOj01ruv/+u5ITslKh3On7Rkf3TGTENinjYsS6\n"
    "0ISU//uFDBXT5B5FSvSBuLkTxHKMuIzbEVfNfu50uHfXHbP4DQIDAQABoAAwDQYJ\n"
    "KoZIhvcNAQELBQADgYEAlk8Ef9814z6gkl0seH/J0FKjszilPH2CUbIEU+3QIMDd\n"
    "i1XdMCjbZu2j9VZl6FWHifOkG/0dfoSFyJvXb/RSXuNnL5ZZ50cYFRrzfIifzPcn\n"
    "kk/YolnOFdmzagg9vSYJD6cQrQqiz4qfgah8LNk8fJ8OIg0dDBDq/hg4rcgS20M=\n"
    "-----END CERTIFICATE REQUEST-----\n";

/* another curve */
static const char request_p384[] =
    "-----BEGIN CERTIFICATE REQUEST-----\n"
    "MIIBBTCBiwIBADAMMQowCAYDVQQDDAFhMHYwEAYHKoZIzj0CAQYFK4EEACIDYgAE\n"
    "McFGw7VuRv142UOA7wdMbrodt7DRuyFrUv1UZhCGaP4VcwH3aLldZ5ybNJf9PeMG\n"
    "nZXAfWGNSZOVti2DmEmF6zdNbTTLW3EGjMH61iQj3sWRq6h3wCcHY2mLVt4w4Z7r\n"
    "oAAwCgYIKoZIzj0EAwIDaQAwZgIxANh8IZNHeATdziD20C0FXuBbzVbbf3UZfk1u\n"
    "VpsKPTJOlRnrJHNmepZ+FehZRIIBLwIxAIYVKmn2azpe/zo94fB8/TFck2KJgVEh\n"
    "kR+SlJ84UUtniyXi1xAcA1h4uneO+2CHHQ==\n"
    "-----END CERTIFICATE REQUEST-----\n";

/* P-256, but spelt out instead of named */
static const char request_explicit[] =
    "-----BEGIN CERTIFICATE REQUEST-----\n"
    "MIIBvDCCAWICAQAwDDEKMAgGA1UEAwwBYTCCAUswggEDBgcqhkjOPQIBMIH3AgEB\n"
    "MCwGByqGSM49AQECIQD/////AAAAAQAAAAAAAAAAAAAAAP///////////////zBb\n"
    "BCD/////AAAAAQAAAAAAAAAAAAAAAP///////////////AQgWsY12Ko6k+ez671V\n"
    "dpiGvGUdBrDMU7D2O848PifSYEsDFQDEnTYIhucEk2pmeOETnSa3gZ9+kARBBGsX\n"
    "0fLhLEJH+Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWT+NC4v4af5uO5+tKfA+eFivO\n"
    "M1drMV7Oy7ZAaDe/UfUCIQD/////AAAAAP//////////vOb6racXnoTzucrC/GMl\n"
    "UQIBAQNCAASuFx91sgE90Segl6HpbC/8BpRrgUrEycMmBDBMuBXz2oVWW7KB6xxD\n"
    "BkeWfpSJosz6rCGPmqdVSvkp5Km3k22ioAAwCgYIKoZIzj0EAwIDSAAwRQIhAKXb\n"
    "+ZQDz7kFMUCVQ8Lncm80tQRk7pzZ3RUzocPYfBPvAiBbwOxkcDNODMwW/EWqZQbU\n"
    "/6x8N5E00faW0h64P5ZZ5A==\n"
    "-----END CERTIFICATE REQUEST-----\n";

/* under a passphrase */
static const char key_locked[] =
    "-----BEGIN ENCRYPTED PRIVATE KEY-----\n"
    "MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAguVFaVXNFApAICCAAw\n"
    "DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEKoedAaLTl1zTG3/2P0SN4MEgZAK\n"
    "mDirrOWN4Za1vPQ3azwHjVIGacSf+sUYv42YvQT0X3ddhgqhi57n08IEjn34/PWD\n"
    "/ALDw1k24WROdEZhSKiKuTb6HZf1/9qcoMaz35ie0Hr8IysM3UO2N9Rsf+COb/CD\n"
    "pmq6LkwPVhNXek3Uy+uBybtYnz7YR8el/uwV1PqBKYL+fIU3g9GG9ChQchdqKBQ=\n"
    "-----END ENCRYPTED PRIVATE KEY-----\n";

/* another curve */
static const char key_p384[] =
    "-----BEGIN PRIVATE KEY-----\n"
    "MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDAoV4vLi8q3cbAiwIYj\n"
    "ChUffTkzPcORG7aTDQ4BH/Npg5/QdY51GQab51wm7L6OUl2hZANiAAQxwUbDtW5G\n"
    "/XjZQ4DvB0xuuh23sNG7IWtS/VRmEIZo/hVzAfdouV1nnJs0l/094wadlcB9YY1J\n"
    "k5W2LYOYSYXrN01tNMtbcQaMwfrWJCPexZGrqHfAJwdjaYtW3jDhnus=\n"
    "-----END PRIVATE KEY-----\n";
/* clang-format on */

#endif
