// Package notify sends notifications and metrics to other servers. The URLs contain secrets,
// such as tokens and passwords. So no error of this package quotes a URL, or a text of the
// server: an error names the receiver by its kind and number.
package notify

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/mail"
	"net/smtp"
	"net/textproto"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"kolla.openstack.org/kolla/internal/base/failure"
)

// patience limits each request to another server.
const patience = 15 * time.Second

// Receiver gets notifications: the server of a webhook, or people by mail.
type Receiver struct {
	// Name is the kind of the receiver with its number: "https 1". It has no part of the URL
	// but its scheme.
	Name string
	send func(ctx context.Context, title, text string) error
}

// Receivers reads URLs: http or https for a webhook, which gets JSON with a title and a message,
// and smtp://USER:PASSWORD@HOST:PORT/?from=ADDRESS&to=ADDRESS,ADDRESS for mail, or smtps for mail
// over TLS from the start. It sends no request.
func Receivers(urls []string) ([]Receiver, error) {
	var out []Receiver
	for i, text := range urls {
		u, err := url.Parse(text)
		if err != nil || u.Host == "" {
			return nil, notUsable(i, "It has to be a URL with a host.")
		}
		receiver := Receiver{Name: fmt.Sprintf("%s %d", u.Scheme, i+1)}
		switch u.Scheme {
		case "http", "https":
			receiver.send = func(ctx context.Context, title, text string) error { return post(ctx, u.String(), title, text) }
		case "smtp", "smtps":
			l, err := letterOf(u)
			if err != nil {
				return nil, notUsable(i, "A URL for mail needs the addresses: smtp://USER:PASSWORD@HOST:PORT/?from=ADDRESS&to=ADDRESS,ADDRESS.")
			}
			receiver.send = l.send
		default:
			return nil, notUsable(i, "It begins with https:// or http:// for a webhook, or with smtp:// or smtps:// for mail.")
		}
		out = append(out, receiver)
	}
	return out, nil
}

func notUsable(i int, expected string) error {
	return failure.New(fmt.Sprintf("The notification URL number %d cannot be used", i+1), expected+" The URL itself is not shown, because it may contain secrets.")
}

// Send sends a notification. The error has no part of the URL.
func (r Receiver) Send(ctx context.Context, title, text string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := r.send(ctx, title, text); err != nil {
		return fmt.Errorf("notify %s: %w", r.Name, causeOf(err))
	}
	return nil
}

// post sends a message to a webhook. Slack, Mattermost, Rocket.Chat, Google Chat and Teams read the
// key text.
func post(ctx context.Context, target, title, text string) error {
	body, err := json.Marshal(map[string]string{"title": title, "message": text, "text": title + "\n" + text})
	if err != nil {
		return err
	}
	return request(ctx, http.MethodPost, target, "application/json", body)
}

// letter is the envelope of a mail.
type letter struct {
	server, host string // with and without the port
	tls          bool   // from the start; otherwise if the server offers it
	auth         smtp.Auth
	from         string
	to           []string
}

func letterOf(u *url.URL) (*letter, error) {
	l := &letter{host: u.Hostname(), tls: u.Scheme == "smtps"}
	port := u.Port()
	switch {
	case port != "":
	case l.tls:
		port = "465"
	default:
		port = "587"
	}
	l.server = net.JoinHostPort(l.host, port)
	if password, ok := u.User.Password(); ok {
		l.auth = smtp.PlainAuth("", u.User.Username(), password, l.host)
	}
	from, err := mail.ParseAddress(u.Query().Get("from"))
	if err != nil {
		return nil, err
	}
	to, err := mail.ParseAddressList(u.Query().Get("to"))
	if err != nil {
		return nil, err
	}
	l.from = from.Address
	for _, address := range to {
		l.to = append(l.to, address.Address)
	}
	return l, nil
}

func (l *letter) send(ctx context.Context, title, text string) error {
	var dialer net.Dialer
	wire, err := dialer.DialContext(ctx, "tcp", l.server)
	if err != nil {
		return err
	}
	defer func() { _ = wire.Close() }()
	defer context.AfterFunc(ctx, func() { _ = wire.Close() })() // ends a read that waits
	settings := &tls.Config{ServerName: l.host}
	connection := wire
	if l.tls {
		connection = tls.Client(wire, settings)
	}
	client, err := smtp.NewClient(connection, l.host)
	if err != nil {
		return errors.Join(ctx.Err(), err)
	}
	if offered, _ := client.Extension("STARTTLS"); offered && !l.tls {
		if err := client.StartTLS(settings); err != nil {
			return err
		}
	}
	if l.auth != nil {
		if err := client.Auth(l.auth); err != nil {
			return err
		}
	}
	return errors.Join(l.hand(client, title, text), ctx.Err())
}

// hand sends the mail over the connection.
func (l *letter) hand(client *smtp.Client, title, text string) error {
	if err := client.Mail(l.from); err != nil {
		return err
	}
	for _, address := range l.to {
		if err := client.Rcpt(address); err != nil {
			return err
		}
	}
	w, err := client.Data()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "From: <%s>\r\nTo: %s\r\nDate: %s\r\nSubject: %s\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n%s\r\n",
		l.from, strings.Join(l.to, ", "), time.Now().Format(time.RFC1123Z), mime.QEncoding.Encode("utf-8", title), strings.ReplaceAll(text, "\n", "\r\n"))
	if err := errors.Join(err, w.Close()); err != nil {
		return err
	}
	return client.Quit()
}

// Push sends metrics to a Pushgateway, to the group of the job kolla and a cloud. With replace,
// the gateway drops all earlier metrics of the cloud. Without, it drops only earlier metrics of
// the same names. A cloud without a name has no group, because no later push would replace its
// metrics. The error has no part of the URL.
func Push(ctx context.Context, gateway, cloud, contentType string, metrics []byte, replace bool) error {
	method := http.MethodPost
	if replace {
		method = http.MethodPut
	}
	if cloud == "" {
		return errors.New("push the metrics: the name of the cloud is not known")
	}
	target, err := url.JoinPath(gateway, "metrics", "job", "kolla", "cloud", url.PathEscape(cloud))
	if err != nil {
		return errors.New("push the metrics: the URL is not valid")
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := request(ctx, method, target, contentType, metrics); err != nil {
		return fmt.Errorf("push the metrics: %w", causeOf(err))
	}
	return nil
}

// statusError is the HTTP status of a server that refused a request.
type statusError int

func (e statusError) Error() string {
	return fmt.Sprintf("the server answered with HTTP status %d", int(e))
}

// errURL is about a URL that is none.
var errURL = errors.New("the URL is not valid")

func request(ctx context.Context, method, target, contentType string, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return errURL
	}
	r.Header.Set("Content-Type", contentType)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<20)) // so that the connection can end
	if response.StatusCode/100 != 2 {
		return statusError(response.StatusCode)
	}
	return nil
}

// causeOf describes an error in kolla's words, because the text of an error may quote a URL or the
// answer of a server.
func causeOf(err error) error {
	var (
		status      statusError
		answer      *textproto.Error
		name        *net.DNSError
		certificate *tls.CertificateVerificationError
		number      syscall.Errno
	)
	switch {
	case errors.Is(err, errURL):
		return errURL
	case errors.As(err, &status):
		return status
	case errors.As(err, &answer):
		return fmt.Errorf("the server answered with SMTP status %d", answer.Code)
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return errors.New("it does not answer in time")
	case errors.As(err, &name):
		return errors.New("the name of its host cannot be resolved")
	case errors.As(err, &certificate):
		return errors.New("its certificate is not accepted")
	case errors.As(err, &number):
		return number
	}
	return errors.New("it does not accept the message")
}
