package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"kolla.openstack.org/kolla/internal/base/failure"
)

// BucketScheme begins the URLs of buckets.
const BucketScheme = "s3://"

const (
	// partSize is the size of the parts of a file in bytes. S3 allows 10,000 parts: 312 GiB.
	partSize = 32 << 20
	// partsAtOnce are sent at the same time. Each is kept in memory.
	partsAtOnce = 2
)

var bucketURL = regexp.MustCompile(`^s3://([A-Za-z0-9][A-Za-z0-9._-]*)(/[^?#]*)?$`)

// Bucket is a Target in a bucket of an object storage that speaks S3.
type Bucket struct {
	client *s3.Client
	bucket string
	prefix string // empty, or ends in a slash
}

var _ Target = (*Bucket)(nil)

// OpenBucket opens s3://BUCKET or s3://BUCKET/PREFIX. getenv has the variables that other clients of S3
// read: AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, AWS_REGION or AWS_DEFAULT_REGION, AWS_ACCESS_KEY_ID,
// AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN.
func OpenBucket(ctx context.Context, place string, getenv func(string) string) (*Bucket, error) {
	at := bucketURL.FindStringSubmatch(place)
	if at == nil { // it may have a secret
		return nil, failure.New("This is not a bucket", "A bucket is s3://BUCKET or s3://BUCKET/PREFIX. AWS_ENDPOINT_URL names another object storage than that of AWS.")
	}
	value := aws.Credentials{AccessKeyID: getenv("AWS_ACCESS_KEY_ID"), SecretAccessKey: getenv("AWS_SECRET_ACCESS_KEY"), SessionToken: getenv("AWS_SESSION_TOKEN")}
	if value.AccessKeyID == "" || value.SecretAccessKey == "" {
		return nil, failure.New("There are no credentials for "+place, "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.")
	}
	options := s3.Options{
		Region:      cmp.Or(getenv("AWS_REGION"), getenv("AWS_DEFAULT_REGION")),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return value, nil }),
	}
	if endpoint := cmp.Or(getenv("AWS_ENDPOINT_URL_S3"), getenv("AWS_ENDPOINT_URL")); endpoint != "" {
		server, err := url.Parse(endpoint)
		if err != nil || server.Host == "" || server.User != nil || server.Scheme != "https" && server.Scheme != "http" {
			return nil, failure.New("AWS_ENDPOINT_URL is not the address of an object storage", "It is a URL, such as https://s3.example.org.")
		}
		options.BaseEndpoint = &endpoint
		options.Region = cmp.Or(options.Region, "us-east-1") // the name that most others take for their only region
		options.UsePathStyle = true
		// Not all of them know the checksums of AWS, or the way in which they are sent.
		options.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		options.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
	} else if options.Region == "" {
		return nil, failure.New("The region of "+place+" is not known", "Set AWS_REGION. If the bucket is not one of AWS, set AWS_ENDPOINT_URL.")
	}
	b := &Bucket{s3.New(options), at[1], ""}
	if prefix := strings.Trim(path.Clean("/"+at[2]), "/"); prefix != "" {
		b.prefix = prefix + "/"
	}
	_, err := b.Backups(ctx)
	return b, err
}

// bucketError returns what an error says to a user.
func bucketError(err error) error {
	var missing *types.NoSuchKey
	var answer smithy.APIError
	var broken *url.Error
	switch {
	case errors.As(err, &missing):
		return fs.ErrNotExist
	case errors.As(err, &answer):
		return errors.New(strings.TrimSuffix(answer.ErrorCode()+": "+answer.ErrorMessage(), ": "))
	case errors.As(err, &broken):
		return broken.Err
	}
	return err
}

// String returns the URL.
func (b *Bucket) String() string {
	return strings.TrimSuffix(BucketScheme+b.bucket+"/"+b.prefix, "/")
}

// Close implements Target.
func (b *Bucket) Close(context.Context) error { return nil }

// key returns the key of a file.
func (b *Bucket) key(backup, file string) *string {
	return aws.String(b.prefix + path.Join(backup, file))
}

// pages calls a function with each page of a list of keys.
func (b *Bucket) pages(ctx context.Context, prefix string, delimiter *string, do func(*s3.ListObjectsV2Output) error) error {
	pages := s3.NewListObjectsV2Paginator(b.client, &s3.ListObjectsV2Input{Bucket: &b.bucket, Prefix: &prefix, Delimiter: delimiter})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err == nil {
			err = do(page)
		}
		if err != nil {
			return bucketError(err)
		}
	}
	return nil
}

// Backups implements Target.
func (b *Bucket) Backups(ctx context.Context) (names []string, err error) {
	err = b.pages(ctx, b.prefix, aws.String("/"), func(page *s3.ListObjectsV2Output) error {
		for _, below := range page.CommonPrefixes {
			names = append(names, strings.Trim(strings.TrimPrefix(aws.ToString(below.Prefix), b.prefix), "/"))
		}
		return nil
	})
	if err != nil {
		return nil, unreachable(b.String(), err)
	}
	return names, nil
}

// Create implements Target.
func (b *Bucket) Create(ctx context.Context, backup, file string) (io.WriteCloser, error) {
	uploads := transfermanager.New(b.client, func(o *transfermanager.Options) {
		o.PartSizeBytes = partSize
		o.Concurrency = partsAtOnce
		o.FailTimeout = cleanupTimeout // of the removal of parts
		o.RequestChecksumCalculation = b.client.Options().RequestChecksumCalculation
	})
	return pipe(func(content io.Reader) error {
		_, err := uploads.UploadObject(ctx, &transfermanager.UploadObjectInput{Bucket: &b.bucket, Key: b.key(backup, file), Body: content})
		if err != nil {
			return fmt.Errorf("write %s in %s: %w", path.Join(backup, file), b, bucketError(err))
		}
		return nil
	}), nil
}

// Open implements Target.
func (b *Bucket) Open(ctx context.Context, backup, file string) (io.ReadCloser, error) {
	object, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.bucket, Key: b.key(backup, file)})
	if err != nil {
		return nil, bucketError(err)
	}
	return object.Body, nil
}

// Remove implements Target. The manifest goes first: without it, a backup is not complete.
func (b *Bucket) Remove(ctx context.Context, backup string) error {
	remove := func(key *string) error {
		_, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.bucket, Key: key})
		return err
	}
	if err := remove(b.key(backup, manifestFile)); err != nil {
		return bucketError(err)
	}
	return b.pages(ctx, *b.key(backup, "")+"/", nil, func(page *s3.ListObjectsV2Output) error {
		for _, object := range page.Contents {
			if err := remove(object.Key); err != nil {
				return err
			}
		}
		return nil
	})
}
