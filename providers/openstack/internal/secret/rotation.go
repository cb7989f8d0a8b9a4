package secret

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
	"kolla.openstack.org/kolla/providers/openstack/internal/runs"
	"kolla.openstack.org/kolla/providers/secrets"
)

const day = 24 * time.Hour

// rotation returns the reason to rotate the keys of a repository now. It is empty if they are kept.
func (r *resolver) rotation(s *Secret) string {
	keep, err := r.keep(s)
	if err != nil {
		r.error(s.decl.Range, "A time that kolla cannot read", fmt.Sprintf("Argument keep of secret %q: %s.", s.decl.Name, err))
		return ""
	}
	rotation := secrets.Rotation{Count: s.decl.Count, Days: s.decl.Rotate, Keep: keep, Requested: r.asked(s)}
	if rotation.Days > 0 && time.Duration(rotation.Days)*day < rotation.Interval() {
		r.error(s.decl.Range, "Rotations that drop keys too early", fmt.Sprintf(
			"The keys of secret %q rotate every %d days. A former primary key has to stay for %d seconds, so %d keys need at least %d days between two rotations. Set rotate to this number or a larger one, or give the secret more keys.",
			s.decl.Name, rotation.Days, keep/time.Second, rotation.Count, (rotation.Interval()+day-1)/day))
		return ""
	}
	if r.set.facts.Values == nil || r.set.facts.Age == nil || r.set.live(s) == nil {
		return ""
	}
	if _, renamed := r.set.former[s.Address]; renamed {
		r.refuse(s, errors.New("the Secret gets another name by this plan: rotate its keys afterwards"), rotation.Requested)
		return ""
	}
	age := r.set.facts.Age(r.set.cloud.Decl.Namespace, s.Address.Name)
	s.rotated = age.Rotated
	why, err := rotation.Due(age, r.set.facts.Now)
	r.refuse(s, err, rotation.Requested)
	if why == "" || !r.stillUsed(s, why, rotation.Requested) {
		return why
	}
	return ""
}

// stillUsed reports whether data may be encrypted with the oldest key still, because a job has not encrypted them
// again after the last rotation. It refuses a rotation that the operator asks for. One by age is put off: an error
// would also stop the apply that runs the job again.
func (r *resolver) stillUsed(s *Secret, why string, asked bool) bool {
	job, found := r.unfinished(s)
	if !found {
		return false
	}
	because := fmt.Sprintf("%s, which runs after each rotation, has not succeeded since the last one. Another rotation may drop a key that data still need.", job)
	if asked {
		r.error(s.decl.Range, "A rotation that is not possible now", fmt.Sprintf(
			"-rotate=%s: %s Nothing was changed. Run kolla apply without this option, which runs the job again, and rotate the keys when it has succeeded.", s.Address, because))
		return true
	}
	r.diags = append(r.diags, object.Warning(s.decl.Range, "Keys are not rotated yet", fmt.Sprintf(
		"The keys of secret %q should be rotated: %s. But %s An apply runs the job again. The first plan after its success rotates the keys.", s.decl.Name, why, because)))
	return true
}

// unfinished returns the Job that encrypts data again after the last rotation of a secret, if it has not succeeded.
func (r *resolver) unfinished(s *Secret) (addrs.Object, bool) {
	if r.set.facts.Ran == nil || secrets.Rotations(s.Revision) == 0 {
		return addrs.Object{}, false
	}
	for i := range r.config.Services {
		service := object.Service{Cloud: r.set.cloud, Decl: &r.config.Services[i]}
		for _, job := range service.Decl.Jobs {
			if job.Runs != runs.Rotation || !slices.ContainsFunc(job.Pod.Mounts, func(m configs.SecretMount) bool { return r.set.Get(m.Service, m.Secret) == s }) {
				continue
			}
			last := service.Address("Job", object.Versioned(service.Dashed(service.Decl.Name, job.Name), nil, runs.AfterRotations(job, r.revision)...))
			if !r.set.facts.Ran(last) {
				return last, true
			}
		}
	}
	return addrs.Object{}, false
}

// revision returns the revision of the values that a generated secret has in the cluster.
func (r *resolver) revision(m configs.SecretMount) string {
	s := r.set.Get(m.Service, m.Secret)
	if s.decl.Source != nil {
		return ""
	}
	return r.set.facts.Revision(s.Address, r.set.cloud.Decl.Namespace, s.Address.Name, nil)
}

// refuse reports a rotation that the operator asks for and that is not possible.
func (r *resolver) refuse(s *Secret, err error, asked bool) {
	if err == nil || !asked {
		return
	}
	r.error(s.decl.Range, "A rotation that is not possible now", fmt.Sprintf(
		"-rotate=%s: %s. Nothing was changed. To make all keys anew and lose what they encrypted, delete the Secret.", s.Address, err))
}

// keep returns how long a former primary key of a repository has to stay. Options that are known only
// after the apply count as nothing.
func (r *resolver) keep(s *Secret) (time.Duration, error) {
	total := 0
	for _, text := range s.decl.Keep {
		seconds, err := strconv.Atoi(text)
		if err == nil && seconds >= 0 {
			total += seconds
			continue
		}
		value, known, err := r.option(s, text)
		if err != nil {
			return 0, err
		}
		if !known {
			continue
		}
		if seconds, err = strconv.Atoi(value); err != nil || seconds < 0 {
			return 0, fmt.Errorf("option %s is not a number of seconds", text)
		}
		total += seconds
	}
	return time.Duration(total) * time.Second, nil
}

// option returns the value of an option of the service, from "keystone.conf/token/expiration".
func (r *resolver) option(s *Secret, path string) (value string, known bool, err error) {
	parts := strings.Split(path, "/")
	const steps = 3 // file, section, option
	service := slices.IndexFunc(r.config.Services, func(c configs.Service) bool { return s.service != "" && c.Name == s.service })
	if len(parts) != steps || service < 0 {
		return "", false, fmt.Errorf("%q is neither a number of seconds nor FILE/SECTION/OPTION of a config file of the service", path)
	}
	for _, file := range r.config.Services[service].Configs {
		if file.Name != parts[0] {
			continue
		}
		for _, o := range file.Options {
			if o.Section != parts[1] || o.Key != parts[2] {
				continue
			}
			if len(o.Values) == 1 && len(o.Values[0]) == 1 && len(o.Values[0].Deferred()) == 0 && !o.Values[0].Secret() {
				return o.Values[0][0].Literal, true, nil
			}
			return "", false, nil
		}
		if file.Partial {
			return "", false, nil
		}
	}
	return "", false, fmt.Errorf("the service has no option %s", path)
}

// asked reports whether the operator asks for new values of a secret.
func (r *resolver) asked(s *Secret) bool {
	return r.set.facts.Rotate != nil && r.set.facts.Rotate(s.Address)
}

// requested returns the reason to make new values because the operator asks for them. It is empty if the
// operator does not, and if there are no values yet.
func (r *resolver) requested(s *Secret) string {
	if s.decl.Kind == providers.KindFernet || !r.asked(s) || r.set.facts.Values == nil || r.set.live(s) == nil {
		return ""
	}
	if s.decl.Loss != "" {
		r.error(s.decl.Range, "A value that must stay", fmt.Sprintf("-rotate=%s: if kolla makes another value, %s. Nothing was changed.", s.Address, s.decl.Loss))
		return ""
	}
	return secrets.Requested()
}

// unrotated refuses to make new values of a secret whose values kolla does not make.
func (r *resolver) unrotated(s *Secret) {
	if r.asked(s) {
		r.error(s.decl.Source.Range, "A value that kolla does not make", fmt.Sprintf(
			"-rotate=%s: the value comes from %s. Put another value there: the next plan shows the change.", s.Address, originOf(s.decl.Source)))
	}
}
