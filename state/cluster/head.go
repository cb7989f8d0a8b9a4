package cluster

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"kolla.openstack.org/kolla/state"
)

// head is the first Secret of a state, which names the present version.
type head struct {
	site *site

	mu      sync.Mutex
	awaited bool           // the lock was taken, and the Secret has not been read since
	present *corev1.Secret // the version that the next write replaces; nil: no Secret
}

// header is the content of the first Secret.
type header struct {
	Version string `json:"version,omitempty"` // checksum of the present version
	Parts   int    `json:"parts,omitempty"`
	Moved   string `json:"moved,omitempty"` // new place of the state, if it has moved
}

// expect must be called when the lock has been taken. The next write replaces the version that the
// next read returns. Later reads do not change that, because no write may overwrite the write of
// another process.
func (h *head) expect() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.awaited = true
}

// read reads the Secret. revision changes with each write of it.
func (h *head) read() (present header, revision string, err error) {
	s, err := h.site.client.Secret(h.site.ctx, h.site.name())
	if err != nil && !apierrors.IsNotFound(err) {
		return header{}, "", err
	}
	missing := err != nil
	h.mu.Lock()
	if h.awaited {
		h.awaited, h.present = false, nil
		if !missing {
			h.present = s
		}
	}
	h.mu.Unlock()
	if missing {
		return header{}, "", fs.ErrNotExist
	}
	if json.Unmarshal(s.Data[dataKey], &present) != nil || present.Moved == "" && (present.Version == "" || present.Parts < 1) {
		return header{}, "", h.site.damaged("it does not name a version of the state, so it was edited by hand")
	}
	if present.Moved != "" {
		return header{}, "", &state.MovedError{Place: h.site.place(h.site.name()), To: present.Moved}
	}
	return present, s.ResourceVersion, nil
}

// point changes the Secret.
func (h *head) point(to header) error {
	raw, err := json.Marshal(to)
	if err != nil {
		return fmt.Errorf("encode the place of the state: %w", err)
	}
	next := h.site.secret("", partHead, raw)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.present != nil {
		next.ResourceVersion, next.UID = h.present.ResourceVersion, h.present.UID
	}
	written, err := h.site.put(next)
	if err != nil {
		return err
	}
	h.present = written
	return nil
}

// setAside keeps the Secret under another name.
func (h *head) setAside() error {
	s, err := h.site.client.Secret(h.site.ctx, h.site.name())
	if err == nil {
		err = h.site.setAside([]corev1.Secret{*s})
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.present = nil
	return nil
}
