const list = document.querySelector("#reviews");

export async function loadReviews(productId) {
  const answer = await fetch(`/products/${productId}/reviews`);
  return answer.json();
}

export function showReviews(reviews) {
  for (const review of reviews) {
    const item = document.createElement("li");
    item.innerHTML = `<b>${review.author}</b>: ${review.text}`;
    list.append(item);
  }
}

export function show_average(reviews) {
  const stars = reviews.reduce((sum, review) => sum + review.stars, 0);
  const average = reviews.length === 0 ? 0 : stars / reviews.length;
  document.querySelector("#average").textContent = average.toFixed(1);
}
