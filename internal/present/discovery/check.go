package discovery

import (
	"strings"
	"time"
)

// Check is what happened when a URL was opened.
type Check struct {
	Address   string // of the block, "service.keystone"
	URL       string
	Skipped   bool          // it is a UDP port, and was not opened
	Connected time.Duration // until the TCP connection was open; 0: it was not
	Answered  time.Duration // from the beginning until the HTTP answer; 0: there was none, or none is expected
	Status    int           // of the HTTP answer; 0: there was none
	Problem   string        // empty: it answers, or accepts connections if it is no HTTP URL
}

// WithoutTemplates cuts a URL of Keystone's catalogue before the part that depends on the client:
// "http://cloud.example.org:8776/v3/%(project_id)s".
func WithoutTemplates(url string) string {
	for _, template := range []string{"%(", "$("} {
		url, _, _ = strings.Cut(url, template)
	}
	return url
}

// Failed counts the URLs that do not answer.
func Failed(checks []Check) (failed int) {
	for _, c := range checks {
		if c.Problem != "" {
			failed++
		}
	}
	return failed
}

// Answers reports whether all URLs that were to be opened were opened, and answer.
func (d *Directory) Answers() bool {
	return Failed(d.Checks) == 0 && Failed(d.Inside) == 0 && d.NoPod == ""
}
