// Package lego has a client without ACME.
package lego

import (
	"context"
	"crypto/x509"
	"errors"
	"net/http"
	"time"

	"github.com/go-acme/lego/v5/acme"
	"github.com/go-acme/lego/v5/certificate"
	"github.com/go-acme/lego/v5/challenge"
	"github.com/go-acme/lego/v5/challenge/dns01"
	"github.com/go-acme/lego/v5/challenge/http01"
	"github.com/go-acme/lego/v5/challenge/tlsalpn01"
	"github.com/go-acme/lego/v5/registration"
)

// DirectoryURLLetsEncrypt is the default of an option of Traefik.
const DirectoryURLLetsEncrypt = "https://acme-v02.api.letsencrypt.org/directory"

// Config is the configuration of a Client.
type Config struct {
	CADirURL, UserAgent string
	HTTPClient          *http.Client
	Certificate         struct{ Timeout time.Duration }
}

// NewConfig returns a Config.
func NewConfig(any) *Config { return &Config{} }

// Client is a client of an ACME server.
type Client struct {
	Certificate  certifier
	Challenge    solvers
	Registration registrar
}

// NewClient returns an error.
func NewClient(*Config) (*Client, error) { return nil, errors.ErrUnsupported }

// CreateCertPool returns an error.
func CreateCertPool([]string, bool) (*x509.CertPool, error) { return nil, errors.ErrUnsupported }

type certifier struct{}

func (certifier) Obtain(context.Context, certificate.ObtainRequest) (*certificate.Resource, error) {
	return nil, errors.ErrUnsupported
}

func (certifier) Renew(context.Context, certificate.Resource, *certificate.RenewOptions) (*certificate.Resource, error) {
	return nil, errors.ErrUnsupported
}

type solvers struct{}

func (solvers) SetDNS01Provider(challenge.Provider, ...dns01.Option) error {
	return errors.ErrUnsupported
}

func (solvers) SetHTTP01Provider(challenge.Provider, ...http01.Option) error {
	return errors.ErrUnsupported
}

func (solvers) SetTLSALPN01Provider(challenge.Provider, ...tlsalpn01.Option) error {
	return errors.ErrUnsupported
}

type registrar struct{}

func (registrar) Register(context.Context, registration.RegisterOptions) (*acme.ExtendedAccount, error) {
	return nil, errors.ErrUnsupported
}

func (registrar) RegisterWithExternalAccountBinding(context.Context, registration.RegisterEABOptions) (*acme.ExtendedAccount, error) {
	return nil, errors.ErrUnsupported
}
