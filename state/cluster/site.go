package cluster

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/state"
)

// Labels and annotations of the Secrets. They do not include the label of the cloud itself, because
// no plan manages these objects.
const (
	labelState = "kolla.openstack.org/state"      // name of the cloud
	labelPart  = "kolla.openstack.org/state-part" // one of the values below

	serialNote  = "kolla.openstack.org/state-serial"
	journalNote = "kolla.openstack.org/state-journal" // ID of the journal to which a part belongs

	partHead    = "head"
	partVersion = "version"
	partJournal = "journal"
	partDamaged = "damaged"
)

// dataKey is the key of the data in each Secret.
const dataKey = "state"

// site is the place of a state. It reads and writes the Secrets there.
type site struct {
	Options
	client Client
	ctx    context.Context
}

// secret returns a new Secret.
func (s *site) secret(suffix, part string, data []byte) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name: s.name() + suffix, Namespace: s.Namespace,
			Labels:      map[string]string{labelState: s.Cloud, labelPart: part},
			Annotations: map[string]string{},
		},
		Type: "kolla.openstack.org/state",
		Data: map[string][]byte{dataKey: data},
	}
}

func (s *site) place(name string) string { return "Secret " + s.Namespace + "/" + name }

func (s *site) damaged(problem string) error {
	return &state.DamagedError{File: s.place(s.name()), Problem: problem}
}

// put writes a Secret. If the answer to an earlier attempt was lost, the server refuses the
// next one, and the Secret already has the new content.
func (s *site) put(next *corev1.Secret) (*corev1.Secret, error) {
	written, err := s.client.PutSecret(s.ctx, next)
	if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
		return written, err
	}
	live, failed := s.client.Secret(s.ctx, next.Name)
	if failed == nil && bytes.Equal(live.Data[dataKey], next.Data[dataKey]) {
		return live, nil
	}
	return nil, fmt.Errorf("somebody else wrote %s at the same time, so this process writes nothing more there: %w", s.place(next.Name), err)
}

// remove deletes a Secret. It is no error if the Secret does not exist. An empty UID stands for
// any.
func (s *site) remove(name string, uid types.UID) error {
	if err := s.client.DeleteSecret(s.ctx, name, uid); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete %s: %w", s.place(name), err)
	}
	return nil
}

// setAside copies Secrets to other names, so that a person can look at them, and deletes them.
func (s *site) setAside(found []corev1.Secret) error {
	stamp := time.Now().UnixNano()
	for i := range found {
		suffix := strings.TrimPrefix(found[i].Name, s.name())
		copied := s.secret(fmt.Sprintf(".damaged.%d%s", stamp, suffix), partDamaged, nil)
		copied.Data = found[i].Data
		if _, err := s.put(copied); err != nil {
			return err
		}
		if err := s.remove(found[i].Name, found[i].UID); err != nil {
			return err
		}
	}
	return nil
}
