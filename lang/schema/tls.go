package schema

import "kolla.openstack.org/kolla/lang/schema/forms"

// issuerKinds are the kinds of cert-manager's issuers: one of a namespace, and one of the cluster.
var issuerKinds = []string{"Issuer", "ClusterIssuer"}

// TLSType describes the block `tls` of an exposure.
var TLSType = &BlockType{
	Name: "tls", Single: true,
	Doc: "Encryption towards clients, for the modes nodeport, managed, ingress and gateway. The public URLs of all services of the exposure begin with https://. kolla makes a CA and a certificate, keeps both in the cluster, and renews the certificate, unless `issuer`, `secret_name` or `certificate_file` gives a certificate. It is for `fqdn` and `vip`, or for all names below `domain`. In the mode nodeport, `kolla exposure haproxy` and `kolla exposure certificate` configure HAProxy with it. In the mode managed, HAProxy gets it from the Secret, and a renewed one without a restart. In the other modes, Ingresses name the Secret, or a listener of your Gateway has to. Connections from there to the services are not encrypted.",
	Example: `exposure "public" {
  vip  = "192.0.2.10"
  fqdn = "cloud.example.org"

  tls {
    ca            = secret.ca # without it, the exposure has a CA of its own
    dns_names     = ["dashboard.example.org"]
    ip_addresses  = ["198.51.100.10"]
    validity_days = 90
    renew_before  = 30
    algorithm     = "rsa"
  }
}

secret "ca" {
  kind = "x509-ca"
}

# A Secret of type kubernetes.io/tls that others make, such as cert-manager.
exposure "partners" {
  vip  = "192.0.2.11"
  fqdn = "partners.example.org"

  tls {
    secret_name  = "partners-tls"
    hsts_max_age = 0
  }
}

# cert-manager asks an ACME server for the certificate, and renews it.
exposure "web" {
  domain = "cloud.example.org"
  mode   = "ingress"
  class  = "traefik"

  tls {
    issuer      = "letsencrypt"
    issuer_kind = "ClusterIssuer"
  }
}

# A listener of the Gateway has the certificate. Another one redirects plain HTTP.
exposure "admin" {
  domain = "admin.example.org"
  mode   = "gateway"

  gateway {
    name         = "public"
    namespace    = "gateways"
    section      = "https"
    http_section = "http"
  }

  tls {}
}

# Files beside the configuration. Keep the key out of version control.
exposure "inside" {
  vip  = "192.0.2.12"
  fqdn = "cloud.inside.example.org"

  tls {
    certificate_file = "files/inside.crt"
    key_file         = "files/inside.key"
    ca_file          = "files/ca.crt"
  }
}
`,
	Attributes: []Attribute{
		{Name: "ca", Type: TypeSecret, Doc: "The secret of kind x509-ca that signs the certificate, as secret.NAME. By default kolla makes one for the exposure, in the Secret exposure-NAME-ca."},
		{Name: "issuer", Type: TypeString, Form: forms.Subdomain, Doc: "Name of an issuer of cert-manager (cert-manager.io) that signs the certificate. kolla makes a Certificate exposure-NAME-tls, and cert-manager the Secret of this name. cert-manager renews it."},
		{Name: "issuer_kind", Type: TypeString, OneOf: issuerKinds, Default: issuerKinds[0], Doc: "Kind of the issuer: an Issuer in the namespace of the cloud, or a ClusterIssuer."},
		{Name: "dns_names", Type: TypeList, Form: forms.HostPattern, Doc: "Further DNS names of the certificate, beside fqdn, or beside the names of services below domain."},
		{Name: "ip_addresses", Type: TypeList, Form: forms.IP, Doc: "Further IP addresses of the certificate, beside vip."},
		{Name: "algorithm", Type: TypeString, OneOf: KeyAlgorithms, Default: "ecdsa", Doc: "Type of the key of the certificate. Not all browsers know ed25519."},
		{Name: "validity_days", Type: TypeNumber, Default: 365, Min: 1, Max: maxValidity, Doc: "Validity of the certificate in days, never longer than that of its CA. With `issuer`, cert-manager decides unless it is set; ACME servers ignore it."},
		{Name: "renew_before", Type: TypeNumber, Default: defaultRenewal, Min: 1, Max: maxValidity, Doc: "Number of days before its end from which a plan renews the certificate. With `issuer`, cert-manager renews it, by default in the last third of its validity."},
		{Name: "secret_name", Type: TypeString, Form: forms.Subdomain, Doc: "Name of a Secret of type kubernetes.io/tls in the namespace of the cloud that others make, with the certificate and the certificates of intermediate CAs in tls.crt, the key in tls.key, and in ca.crt the CA, if clients do not know it."},
		{Name: "certificate_file", Type: TypeString, Form: forms.Plain, Doc: "File with the certificate in PEM, followed by the certificates of intermediate CAs, relative to the configuration's directory. kolla puts the files into the Secret exposure-NAME."},
		{Name: "key_file", Type: TypeString, Form: forms.Plain, Doc: "File with the private key of the certificate in PEM, without a passphrase."},
		{Name: "ca_file", Type: TypeString, Form: forms.Plain, Doc: "File with the certificate of the CA in PEM, if clients do not know the CA. `kolla openrc` gives it to clients."},
		{Name: "hsts_max_age", Type: TypeNumber, Default: 31536000, Min: 0, Max: 63072000, Doc: "How long browsers refuse plain HTTP for the host, in seconds, from the header Strict-Transport-Security. With 0 there is no header. For the modes nodeport and gateway. Browsers ignore the header if they do not trust the certificate."},
	},
}
